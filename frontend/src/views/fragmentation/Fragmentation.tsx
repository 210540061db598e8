import type { Target } from '../../store/target';
import { Bins } from './Bins';
import { OverTime } from './OverTime';

/** How scattered the free memory is: over time, and by size at the chosen moment. */
export function Fragmentation({ target }: { readonly target: Target }) {
  return (
    <>
      <OverTime target={target} />
      <Bins target={target} />
    </>
  );
}

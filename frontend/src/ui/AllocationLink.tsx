import { opName } from '../format/names';
import { client, select } from '../store/session';

/** An operation's name that opens the life of its allocation. */
export function AllocationLink({ id, name }: { readonly id: bigint; readonly name: string }) {
  // A page without a server does not hold the life of every allocation.
  if (client().offline) return <span title={name}>{opName(name)}</span>;
  return (
    <button type="button" class="link" title={name} onClick={() => select({ allocation: id })}>
      {opName(name)}
    </button>
  );
}

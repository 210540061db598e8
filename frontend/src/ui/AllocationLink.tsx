import { opName } from '../format/names';
import { select } from '../store/session';

/** An operation's name that opens the life of its allocation. */
export function AllocationLink({ id, name }: { readonly id: bigint; readonly name: string }) {
  return (
    <button type="button" class="link" title={name} onClick={() => select({ allocation: id })}>
      {opName(name)}
    </button>
  );
}

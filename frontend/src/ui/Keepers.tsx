import { groupDigits } from '../format/bytes';
import type { Keeper } from '../generated/datasets_pb';
import { Bytes } from './Bytes';
import { SourceLink } from './SourceLine';

const SHOWN_AT_FIRST = 5;

/** What keeps allocations from being freed: from a root of the program to the tensors. */
export function Keepers({ keepers }: { readonly keepers: readonly Keeper[] }) {
  if (keepers.length === 0) return null;
  const rest = keepers.slice(SHOWN_AT_FIRST);
  return (
    <section class="keepers" aria-label="What keeps it">
      <h3>What keeps it</h3>
      <ul>
        {keepers.slice(0, SHOWN_AT_FIRST).map((keeper) => (
          <KeeperItem key={keeper.chain.join('/')} keeper={keeper} />
        ))}
      </ul>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          <ul>
            {rest.map((keeper) => (
              <KeeperItem key={keeper.chain.join('/')} keeper={keeper} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function KeeperItem({ keeper }: { readonly keeper: Keeper }) {
  return (
    <li>
      <strong>
        <Bytes value={keeper.allocatedBytes} />
      </strong>{' '}
      in {groupDigits(keeper.count)} {keeper.count === 1n ? 'tensor' : 'tensors'}:{' '}
      <KeeperChain chain={keeper.chain} />
      {keeper.line && (
        <>
          , <SourceLink frame={keeper.line} />
        </>
      )}
    </li>
  );
}

/** "list 'losses' in __main__ (200 items) → GradientTape → EagerTensor" */
export function KeeperChain({ chain }: { readonly chain: readonly string[] }) {
  return <span class="keeper-chain">{chain.join(' → ')}</span>;
}

import { groupDigits } from '../format/bytes';
import type { Keeper } from '../generated/datasets_pb';
import { Bytes } from './Bytes';
import { SourceLink } from './SourceLine';

const SHOWN_AT_FIRST = 5;
/** What keeps less than this part explains nothing. */
const LEAST_SHARE = 100n;

interface KeepersProps {
  /** The largest first. */
  readonly keepers: readonly Keeper[];
  /** What all of them are a part of. */
  readonly ofBytes?: bigint;
}

/** What keeps allocations from being freed: from a root of the program to the tensors. */
export function Keepers({ keepers, ofBytes = 0n }: KeepersProps) {
  if (keepers.length === 0) return null;
  const large = keepers.filter(({ allocatedBytes }) => allocatedBytes * LEAST_SHARE >= ofBytes);
  const shown = Math.min(Math.max(large.length, 1), SHOWN_AT_FIRST);
  const rest = keepers.slice(shown);
  return (
    <section class="keepers" aria-label="What keeps it">
      <h3>What keeps it</h3>
      <ul>
        {keepers.slice(0, shown).map((keeper) => (
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

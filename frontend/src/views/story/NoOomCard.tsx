import { ALLOCATIONS } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import { groupDigits } from '../../format/bytes';
import { opName } from '../../format/names';
import { GroupBy } from '../../generated/datasets_pb';
import { NO_FILTER } from '../../store/selection';
import { select } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { Bytes } from '../../ui/Bytes';
import { LeakNote } from './LeakNote';

/** No OOM: how close it came, and who held the most. */
export function NoOomCard({ target }: { readonly target: Target }) {
  const { allocator } = target;
  const holders = useDataset(ALLOCATIONS, {
    run: target.run,
    fields: {
      filter: filterOf(target),
      at: { at: { case: 'peak', value: true } },
      groupBy: GroupBy.GROUP_OP,
      limit: 1,
    },
  });
  const headroom = allocator.limitBytes - allocator.peakInUseBytes;
  return (
    <article class="card story">
      <p class="story-kicker">
        <span class="badge good">No out-of-memory error</span>
        <span class="story-when">
          {groupDigits(allocator.allocCount)} allocations, {groupDigits(allocator.freeCount)} frees
        </span>
      </p>
      <h2 class="story-verdict">
        At its peak <Bytes value={allocator.peakInUseBytes} /> were in use
        {allocator.limitBytes > 0n && (
          <>
            {' '}
            of a limit of <Bytes value={allocator.limitBytes} />: <Bytes value={headroom} /> were
            left
          </>
        )}
        .
      </h2>
      {holders.data && holders.data.groups.length > 0 && (
        <>
          <h3>Who held the most at the peak</h3>
          <ol class="holders">
            {holders.data.groups.slice(0, 5).map((group) => (
              <li key={group.key}>
                <button
                  type="button"
                  class="link"
                  onClick={() =>
                    select({
                      view: 'live',
                      at: { kind: 'peak' },
                      filter: { ...NO_FILTER, search: group.key },
                    })
                  }
                >
                  <code>{opName(group.key)}</code>
                </button>{' '}
                <Bytes value={group.allocatedBytes} /> in {groupDigits(group.count)}
              </li>
            ))}
          </ol>
        </>
      )}
      <LeakNote target={target} />
    </article>
  );
}

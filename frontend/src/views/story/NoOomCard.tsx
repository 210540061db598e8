import { questionOf } from '../../data/client';
import { ALLOCATIONS } from '../../data/query';
import { formatBytes, groupDigits } from '../../format/bytes';
import { opName } from '../../format/names';
import { type AllocationGroup, GroupBy } from '../../generated/datasets_pb';
import { NO_FILTER } from '../../store/selection';
import { select } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { Bytes } from '../../ui/Bytes';
import { ExportMenu, type Exports } from '../../ui/ExportMenu';
import { showDetails } from '../../ui/showDetails';
import { Minimap } from '../timeline/Minimap';
import { Fact } from './Fact';
import { headroomSentence } from './headroom';
import { LeakNote } from './LeakNote';

const SHOWN_HOLDERS = 5;

/** No OOM: how close it came, who held the most, and what would become one. */
export function NoOomCard({ target }: { readonly target: Target }) {
  const { allocator } = target;
  const holders = useDataset(ALLOCATIONS, holdersAtPeak(target));
  const groups = holders.data?.groups ?? [];
  const show = (at: 'peak' | 'end', view: 'map' | 'live') => () =>
    showDetails({ at: { kind: at }, view });
  return (
    <article class="card story" aria-labelledby="no-oom">
      <div class="story-kicker">
        <span class="badge good">No out-of-memory error</span>
        <span class="story-when">
          {groupDigits(allocator.allocCount)} allocations, {groupDigits(allocator.freeCount)} frees
        </span>
        <ExportMenu {...exportsOf(target, groups)} />
      </div>
      <h2 id="no-oom" class="story-verdict">
        At its peak <Bytes value={allocator.peakInUseBytes} /> were in use.{' '}
        {headroomSentence(allocator)}
      </h2>
      <div class="story-columns">
        <div>
          <div class="facts">
            <Fact
              label="Most in use"
              value={allocator.peakInUseBytes}
              onClick={show('peak', 'live')}
            />
            <Fact
              label="Most reserved by the pool"
              value={allocator.peakReservedBytes}
              onClick={show('peak', 'map')}
            />
            {allocator.limitBytes > 0n && (
              <Fact label="Limit" value={allocator.limitBytes} onClick={show('peak', 'map')} />
            )}
            <Fact
              label="In use at the end"
              value={allocator.endInUseBytes}
              onClick={show('end', 'live')}
            />
          </div>
          <figure class="story-moment">
            <Minimap target={target} height={72} />
            <figcaption>Memory in use over the whole recording</figcaption>
          </figure>
          <LeakNote target={target} />
        </div>
        {groups.length > 0 && <Holders groups={groups} />}
      </div>
    </article>
  );
}

function Holders({ groups }: { readonly groups: readonly AllocationGroup[] }) {
  return (
    <div>
      <h3>Who held the most at the peak</h3>
      <ol class="holders">
        {groups.slice(0, SHOWN_HOLDERS).map((group) => (
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
    </div>
  );
}

function holdersAtPeak(target: Target) {
  return {
    run: target.run,
    fields: {
      filter: filterOf(target),
      at: { at: { case: 'peak' as const, value: true } },
      groupBy: GroupBy.GROUP_OP,
      limit: 1,
    },
  };
}

function exportsOf(target: Target, groups: readonly AllocationGroup[]): Exports {
  const { allocator } = target;
  const { run, fields } = holdersAtPeak(target);
  return {
    name: 'no-out-of-memory',
    text: () =>
      [
        `At its peak ${formatBytes(allocator.peakInUseBytes)} were in use. ${headroomSentence(allocator)}`,
        'Who held the most at the peak:',
        ...groups
          .slice(0, SHOWN_HOLDERS)
          .map(({ key, allocatedBytes }) => `- ${opName(key)}: ${formatBytes(allocatedBytes)}`),
      ].join('\n'),
    table: () => [
      ['Operation', 'Bytes', 'Allocations'],
      ...groups.map(({ key, allocatedBytes, count }) => [
        key,
        String(allocatedBytes),
        String(count),
      ]),
    ],
    question: questionOf(ALLOCATIONS, run, fields),
  };
}

import { ALLOCATIONS } from '../../data/query';
import { type AllocationGroup, GroupBy } from '../../generated/datasets_pb';
import { shownMomentQuery } from '../../store/moment';
import { select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { Keepers } from '../../ui/Keepers';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { Select } from '../../ui/Select';
import { Flame } from './Flame';
import { GroupTree } from './GroupTree';
import { GROUPINGS, isNameless, narrowTo } from './groupings';
import { Treemap } from './Treemap';
import { joinPath } from './tree';

/** Who held the memory at the chosen moment: by layer, op, role, shape and more. */
export function Holders({ target }: { readonly target: Target }) {
  const { filter, groupBy } = selection.value;
  const at = shownMomentQuery(target);
  const asked = useDataset(
    ALLOCATIONS,
    at && {
      run: target.run,
      fields: { filter: filterOf(target, filter), at, groupBy, limit: 1 },
    },
  );
  const answer = asked.data;
  const choose = (path: string, group: AllocationGroup) => {
    const narrowed = narrowTo(groupBy, path, filter, group.line);
    // A scope has scopes below it; of anything else there are only the allocations.
    const deeper = groupBy === GroupBy.GROUP_SCOPE && !isNameless(path);
    select(deeper ? { filter: narrowed } : { filter: narrowed, view: 'live' });
  };
  return (
    <Card
      title="Who holds it"
      busy={asked.loading}
      note={
        answer && (
          <>
            <Bytes value={answer.totalAllocatedBytes} />
            {filter.scope !== '' && <> in {filter.scope}</>}
          </>
        )
      }
      actions={
        <>
          {filter.scope !== '' && (
            <button
              type="button"
              class="button"
              onClick={() =>
                select({
                  filter: { ...filter, scope: filter.scope.split('/').slice(0, -1).join('/') },
                })
              }
            >
              One level up
            </button>
          )}
          <Select
            label="Group by"
            value={String(groupBy)}
            options={GROUPINGS.map(({ value, label }) => ({ value: String(value), label }))}
            onChange={(value) => select({ groupBy: Number(value) as GroupBy }, 'replace')}
          />
        </>
      }
      exports={{
        name: 'holders',
        table: () => groupCells(answer?.groups ?? []),
        question: asked.question,
      }}
    >
      {asked.error && <Failed error={asked.error} />}
      {!answer && asked.loading && <Waiting run={target.run} what="Replaying up to this moment…" />}
      {answer && answer.groups.length === 0 && (
        <Empty title="Nothing was live, or nothing fits the filter" />
      )}
      {answer && answer.groups.length > 0 && (
        <>
          {groupBy === GroupBy.GROUP_STACK ? (
            <Flame groups={answer.groups} onChoose={choose} />
          ) : (
            <Treemap groups={answer.groups} onChoose={choose} />
          )}
          <GroupTree groups={answer.groups} total={answer.totalAllocatedBytes} onChoose={choose} />
        </>
      )}
      {answer && <Keepers keepers={answer.keepers} />}
      {answer && <QualityNotes quality={answer.quality} />}
    </Card>
  );
}

/** Every group of the tree in one flat table. */
function groupCells(groups: readonly AllocationGroup[]): readonly (readonly string[])[] {
  const rows: string[][] = [];
  const add = (group: AllocationGroup, parent: string) => {
    const path = joinPath(parent, group.key);
    rows.push(
      [path, group.allocatedBytes, group.requestedBytes, group.count, group.largestBytes].map(
        String,
      ),
    );
    for (const child of group.children) add(child, path);
  };
  for (const group of groups) add(group, '');
  return [
    ['Group', 'Allocated (bytes)', 'Requested (bytes)', 'Allocations', 'Largest (bytes)'],
    ...rows,
  ];
}

import { ALLOCATIONS } from '../../data/query';
import { type AllocationGroup, GroupBy } from '../../generated/datasets_pb';
import { shownMomentQuery } from '../../store/moment';
import { select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { Bytes } from '../../ui/Bytes';
import { Keepers } from '../../ui/Keepers';
import { Empty } from '../../ui/Notices';
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
  const oneLevelUp = () =>
    select({ filter: { ...filter, scope: filter.scope.split('/').slice(0, -1).join('/') } });
  return (
    <AnswerCard
      title="Who holds it"
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
            <button type="button" class="button" onClick={oneLevelUp}>
              One level up
            </button>
          )}
          <Select
            label="Group by"
            value={groupBy}
            options={GROUPINGS}
            onChange={(chosen) => select({ groupBy: chosen }, 'replace')}
          />
        </>
      }
      name="holders"
      asked={asked}
      table={() => groupCells(answer?.groups ?? [])}
    >
      {({ groups, keepers, totalAllocatedBytes }) => (
        <>
          {groups.length === 0 ? (
            <Empty title="Nothing was live, or nothing fits the filter" />
          ) : (
            <>
              {groupBy === GroupBy.GROUP_STACK ? (
                <Flame groups={groups} onChoose={choose} />
              ) : (
                <Treemap groups={groups} onChoose={choose} />
              )}
              <GroupTree groups={groups} total={totalAllocatedBytes} onChoose={choose} />
            </>
          )}
          <Keepers keepers={keepers} />
        </>
      )}
    </AnswerCard>
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

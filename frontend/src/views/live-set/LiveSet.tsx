import { useState } from 'preact/hooks';
import { questionOf } from '../../data/client';
import { ALLOCATIONS, type QueryFields } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { type Allocation, SortKey } from '../../generated/datasets_pb';
import { shownMomentQuery } from '../../store/moment';
import { isUnfiltered, NO_FILTER } from '../../store/selection';
import { client, select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { Bytes } from '../../ui/Bytes';
import { tableText } from '../../ui/DataTable';
import { Empty } from '../../ui/Notices';
import { COLUMNS } from './columns';
import { FilterBar } from './FilterBar';
import { PAGE_ROWS } from './pages';
import { type Sorting, Table } from './Table';

/** Everything that was live at the chosen moment. */
export function LiveSet({ target }: { readonly target: Target }) {
  const [sorting, setSorting] = useState<Sorting>({ key: SortKey.SORT_BYTES, ascending: false });
  const { filter } = selection.value;
  const at = shownMomentQuery(target);
  const fields = {
    filter: filterOf(target, filter),
    ...(at && { at }),
    sort: sorting.key,
    ascending: sorting.ascending,
    limit: PAGE_ROWS,
  };
  const first = useDataset(ALLOCATIONS, at && { run: target.run, fields });
  const total = Number(first.data?.totalCount ?? 0n);
  return (
    <AnswerCard
      title="Live allocations"
      note={
        first.data && (
          <>
            {groupDigits(first.data.totalCount)} allocations hold{' '}
            <Bytes value={first.data.totalAllocatedBytes} />
          </>
        )
      }
      controls={<FilterBar />}
      name="live-allocations"
      asked={first}
      table={() => everyRow(target.run, fields, total)}
    >
      {() =>
        total === 0 ? (
          <NothingLive />
        ) : (
          <Table
            run={target.run}
            fields={fields}
            total={total}
            sorting={sorting}
            onSort={setSorting}
          />
        )
      }
    </AnswerCard>
  );
}

/** An answer has no more rows. */
const MOST_ROWS = 10_000;

/** All rows that fit the filter, in the order on screen. */
async function everyRow(run: string, fields: QueryFields, total: number) {
  const rows: Allocation[] = [];
  while (rows.length < total) {
    const question = questionOf(ALLOCATIONS, run, {
      ...fields,
      offset: rows.length,
      limit: MOST_ROWS,
    });
    const { allocations } = await client().ask(ALLOCATIONS, question);
    if (allocations.length === 0) break;
    rows.push(...allocations);
  }
  return tableText(COLUMNS, rows);
}

function NothingLive() {
  const filtered = !isUnfiltered(selection.value.filter);
  return (
    <Empty title={filtered ? 'Nothing fits the filter' : 'Nothing was live at this moment'}>
      {filtered && (
        <button type="button" class="button" onClick={() => select({ filter: NO_FILTER })}>
          Clear the filter
        </button>
      )}
    </Empty>
  );
}

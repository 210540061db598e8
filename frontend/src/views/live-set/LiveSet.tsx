import { useState } from 'preact/hooks';
import { ALLOCATIONS } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import { groupDigits } from '../../format/bytes';
import { SortKey } from '../../generated/datasets_pb';
import { shownMomentQuery } from '../../store/moment';
import { NO_FILTER } from '../../store/selection';
import { client, select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
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
    <Card
      title="Live allocations"
      busy={first.loading}
      note={
        first.data && (
          <>
            {groupDigits(first.data.totalCount)} allocations hold{' '}
            <Bytes value={first.data.totalAllocatedBytes} />
          </>
        )
      }
    >
      {!client().offline && <FilterBar />}
      {first.error && <Failed error={first.error} />}
      {!first.data && first.loading && (
        <Waiting run={target.run} what="Replaying up to this moment…" />
      )}
      {first.data && total === 0 && <NothingLive />}
      {total > 0 && (
        <Table
          run={target.run}
          fields={fields}
          total={total}
          sorting={sorting}
          onSort={setSorting}
        />
      )}
      {first.data && <QualityNotes quality={first.data.quality} />}
    </Card>
  );
}

function NothingLive() {
  const filtered = selection.value.filter !== NO_FILTER;
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

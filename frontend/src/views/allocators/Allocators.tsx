import { formatShare, groupDigits } from '../../format/bytes';
import { type AllocatorInfo, type HostInfo, Source } from '../../generated/datasets_pb';
import { select } from '../../store/session';
import type { Target } from '../../store/target';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';

interface Row {
  readonly host: HostInfo;
  readonly allocator: AllocatorInfo;
}

/** Every allocator of every host of the run, the closest to its limit first. */
export function Allocators({ target }: { readonly target: Target }) {
  const rows = target.info.hosts.flatMap((host) =>
    host.allocators.map((allocator) => ({ host, allocator })),
  );
  return (
    <Card
      title="Allocators"
      note={`${groupDigits(rows.length)} on ${groupDigits(target.info.hosts.length)} ${target.info.hosts.length === 1 ? 'host' : 'hosts'}`}
      exports={{ name: 'allocators', table: () => tableText(COLUMNS, rows) }}
    >
      <DataTable
        caption="Allocators"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ host, allocator }) => `${host.host}/${allocator.allocator}`}
        selected={({ host, allocator }) => host === target.host && allocator === target.allocator}
      />
    </Card>
  );
}

const bytesColumn = (
  title: string,
  value: (allocator: AllocatorInfo) => bigint,
): DataColumn<Row> => ({
  title,
  numeric: true,
  text: ({ allocator }) => String(value(allocator)),
  cell: ({ allocator }) => <Bytes value={value(allocator)} />,
  order: ({ allocator }) => value(allocator),
});

const countColumn = (
  title: string,
  value: (allocator: AllocatorInfo) => bigint,
): DataColumn<Row> => ({
  title,
  numeric: true,
  text: ({ allocator }) => String(value(allocator)),
  cell: ({ allocator }) => groupDigits(value(allocator)),
  order: ({ allocator }) => value(allocator),
});

const COLUMNS: readonly DataColumn<Row>[] = [
  { title: 'Host', text: ({ host }) => host.host, order: ({ host }) => host.host },
  {
    title: 'Allocator',
    text: ({ allocator }) => allocator.allocator,
    cell: ({ host, allocator }) => (
      <button
        type="button"
        class="link"
        onClick={() => select({ host: host.host, allocator: allocator.allocator })}
      >
        {allocator.allocator}
      </button>
    ),
    order: ({ allocator }) => allocator.allocator,
  },
  { title: 'Device', text: ({ allocator }) => allocator.device || '–' },
  {
    title: 'Source',
    text: ({ allocator }) =>
      allocator.source === Source.STOCK_TRACE ? "TensorFlow's own trace" : 'collector',
  },
  {
    title: 'Peak of limit',
    numeric: true,
    text: ({ allocator }) => String(allocator.closeness),
    cell: ({ allocator }) => (allocator.closeness > 0 ? formatShare(allocator.closeness) : '–'),
    order: ({ allocator }) => allocator.closeness,
  },
  bytesColumn('Limit', ({ limitBytes }) => limitBytes),
  bytesColumn('Peak in use', ({ peakInUseBytes }) => peakInUseBytes),
  bytesColumn('Peak reserved', ({ peakReservedBytes }) => peakReservedBytes),
  bytesColumn('In use at the end', ({ endInUseBytes }) => endInUseBytes),
  countColumn('Allocations', ({ allocCount }) => allocCount),
  countColumn('Frees', ({ freeCount }) => freeCount),
  countColumn('Failed', ({ failedCount }) => failedCount),
  countColumn('OOMs', ({ oomCount }) => oomCount),
  bytesColumn('Live before', ({ baselineBytes }) => baselineBytes),
];

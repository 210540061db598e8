import { questionOf } from '../../data/client';
import { INFO } from '../../data/query';
import { formatShare, groupDigits } from '../../format/bytes';
import { type AllocatorInfo, type HostInfo, Source } from '../../generated/datasets_pb';
import { select } from '../../store/session';
import type { Target } from '../../store/target';
import { Card } from '../../ui/Card';
import { bytesColumn, countColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { QualityNotes } from '../../ui/QualityNotes';

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
      exports={{
        name: 'allocators',
        table: () => tableText(COLUMNS, rows),
        question: questionOf(INFO, target.run, {}),
      }}
    >
      <DataTable
        caption="Allocators"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ host, allocator }) => `${host.host}/${allocator.allocator}`}
        selected={({ host, allocator }) => host === target.host && allocator === target.allocator}
      />
      <QualityNotes quality={target.info.quality} />
    </Card>
  );
}

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
  bytesColumn('Limit', ({ allocator }) => allocator.limitBytes),
  bytesColumn('Peak in use', ({ allocator }) => allocator.peakInUseBytes),
  bytesColumn('Peak reserved', ({ allocator }) => allocator.peakReservedBytes),
  bytesColumn('In use at the end', ({ allocator }) => allocator.endInUseBytes),
  countColumn('Allocations', ({ allocator }) => allocator.allocCount),
  countColumn('Frees', ({ allocator }) => allocator.freeCount),
  countColumn('Failed', ({ allocator }) => allocator.failedCount),
  countColumn('OOMs', ({ allocator }) => allocator.oomCount),
  bytesColumn('Live before', ({ allocator }) => allocator.baselineBytes),
];

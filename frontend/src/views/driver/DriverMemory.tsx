import { useMemo, useRef } from 'preact/hooks';
import { useWidth } from '../../chart/Canvas';
import { paletteOf } from '../../chart/palette';
import { TimeChart } from '../../chart/TimeChart';
import { columnsFor } from '../../chart/window';
import { DRIVER_MEMORY } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import { groupDigits } from '../../format/bytes';
import type { DriverRow, DriverSeries } from '../../generated/datasets_pb';
import { filterOf, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { recordingLength, timeInteractions, visibleRange } from '../../store/timeWindow';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { driverArrays, driverTop } from './model';

/** What the device's driver saw: TensorFlow's pools beside everything else on the device. */
export function DriverMemory({ target }: { readonly target: Target }) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const columns = columnsFor(visibleRange(target), recordingLength(target), width);
  const asked = useDataset(
    DRIVER_MEMORY,
    width > 0
      ? {
          run: target.run,
          fields: {
            filter: {
              ...filterOf(target),
              fromNs: target.originNs + BigInt(columns.from),
              toNs: target.originNs + BigInt(columns.to),
            },
            columns: columns.columns,
          },
        }
      : undefined,
  );
  const series = (asked.data?.series ?? []).filter(
    ({ columns: own, rows }) => own.length + rows.length > 0,
  );
  return (
    <div ref={body}>
      {series.length === 0 && (
        <Card title="Driver memory" busy={asked.loading}>
          {asked.error && <Failed error={asked.error} />}
          {!asked.data && asked.loading && (
            <Waiting run={target.run} what="Reading driver memory…" />
          )}
          {asked.data && (
            <Empty title="No device memory was recorded">
              <p>
                {target.host.cuptiReason ||
                  'Driver memory is recorded on NVIDIA GPUs only, through CUPTI or the driver.'}
              </p>
            </Empty>
          )}
        </Card>
      )}
      {series.map((each) => (
        <Device key={`${each.host}/${each.device}`} series={each} target={target} />
      ))}
      {asked.data && <QualityNotes quality={asked.data.quality} />}
    </div>
  );
}

function Device({ series, target }: { readonly series: DriverSeries; readonly target: Target }) {
  const palette = paletteOf(theme.value);
  const arrays = useMemo(() => driverArrays(series, target.originNs), [series, target.originNs]);
  const lines = [
    { label: 'device total', colour: palette.limit, dash: [6, 4] },
    { label: 'taken on the device', colour: palette.reserved, fill: palette.reservedFill },
    { label: 'driver allocations of this process', colour: palette.requested },
    { label: "TensorFlow's pools", colour: palette.inUse, fill: palette.inUseFill },
  ];
  return (
    <Card
      title={`Driver memory of ${series.device}`}
      note={[series.mode, series.reason].filter((part) => part !== '').join(': ')}
      exports={{ name: 'driver-memory', table: () => tableText(COLUMNS, series.rows) }}
    >
      <ul class="legend">
        {lines.map(({ label, colour }) => (
          <li key={label}>
            <span class="swatch" style={{ background: colour }} /> {label}
          </li>
        ))}
      </ul>
      {series.columns.length > 0 && (
        <TimeChart
          {...timeInteractions(target)}
          height={200}
          top={driverTop(arrays)}
          data={arrays}
          lines={lines}
          label="Driver memory over time. Arrow keys move and zoom."
        />
      )}
      <DataTable
        caption="Driver memory by kind, pool and source"
        columns={COLUMNS}
        rows={series.rows}
        rowKey={({ memoryKind, pool, source }) => `${memoryKind}/${pool}/${source}`}
      />
    </Card>
  );
}

const COLUMNS: readonly DataColumn<DriverRow>[] = [
  { title: 'Kind', text: ({ memoryKind }) => memoryKind },
  { title: 'Pool', text: ({ pool }) => (pool === 0n ? '–' : `0x${pool.toString(16)}`) },
  { title: 'Taken by', text: ({ source }) => source || '–' },
  {
    title: 'Live',
    numeric: true,
    text: ({ liveBytes }) => String(liveBytes),
    cell: ({ liveBytes }) => <Bytes value={liveBytes} />,
    order: ({ liveBytes }) => liveBytes,
  },
  {
    title: 'Peak',
    numeric: true,
    text: ({ peakBytes }) => String(peakBytes),
    cell: ({ peakBytes }) => <Bytes value={peakBytes} />,
    order: ({ peakBytes }) => peakBytes,
  },
  {
    title: 'Allocations',
    numeric: true,
    text: ({ allocCount }) => String(allocCount),
    cell: ({ allocCount }) => groupDigits(allocCount),
    order: ({ allocCount }) => allocCount,
  },
  {
    title: 'Frees',
    numeric: true,
    text: ({ freeCount }) => String(freeCount),
    cell: ({ freeCount }) => groupDigits(freeCount),
    order: ({ freeCount }) => freeCount,
  },
];

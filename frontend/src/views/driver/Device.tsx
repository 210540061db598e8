import { useMemo, useState } from 'preact/hooks';
import { paletteOf } from '../../chart/palette';
import { TimeChart } from '../../chart/TimeChart';
import type { Question } from '../../data/source';
import { formatBytes } from '../../format/bytes';
import { formatDuration, formatMoment } from '../../format/time';
import type { DriverSeries } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { theme } from '../../store/theme';
import { timeInteractions } from '../../store/timeWindow';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { DataTable, tableText } from '../../ui/DataTable';
import { Help } from '../../ui/Help';
import { TableOf } from '../../ui/TableOf';
import { driverArrays, driverTop } from './model';
import { columnColumns, POOL_COLUMNS, ROW_COLUMNS, sampleColumns } from './tables';

interface DeviceProps {
  readonly device: DriverSeries;
  readonly target: Target;
  readonly question: Question | undefined;
}

/** One device: who held its memory over time, and what of it is not TensorFlow's. */
export function Device({ device, target, question }: DeviceProps) {
  const overTime = useMemo(() => columnColumns(target), [target]);
  return (
    <Card
      title={`Driver memory of ${device.deviceName || device.device}`}
      note={howRecorded(device)}
      exports={{
        name: 'driver-memory',
        table: () => tableText(ROW_COLUMNS, device.rows),
        question,
      }}
    >
      {device.ooms.map(({ oom, sentence, external }) => (
        <p key={oom} class="driver-oom">
          <span class="badge oom">OOM {oom + 1}</span>{' '}
          {external && <span class="badge kind">the device was full</span>} {sentence}
        </p>
      ))}
      {device.peakGapBytes > 0n && (
        <p class="hint">
          At most <Bytes value={device.peakGapBytes} /> were taken beside TensorFlow's pools
          <Help term="the gap">
            What the device has, less what is free on it, less TensorFlow's pools: the CUDA context,
            libraries, memory that was asked of the driver directly, and other processes.
          </Help>
        </p>
      )}
      {device.columns.length > 0 && <Chart device={device} target={target} />}
      <h3>By kind, driver pool and library</h3>
      <DataTable
        caption="Driver memory by kind, pool and library"
        columns={ROW_COLUMNS}
        rows={device.rows}
        rowKey={({ memoryKind, pool, source, allocator }) =>
          `${memoryKind}/${pool}/${source}/${allocator}`
        }
      />
      {device.pools.length > 0 && (
        <>
          <h3>The driver's own pools (cudaMallocAsync)</h3>
          <DataTable
            caption="Pools of the driver"
            columns={POOL_COLUMNS}
            rows={device.pools}
            rowKey={({ address }) => String(address)}
          />
        </>
      )}
      <TableOf
        caption="Looks at the device"
        columns={sampleColumns(target)}
        rows={device.samples}
        rowKey={({ timeNs }) => String(timeNs)}
        summary="Show every look at the device"
      />
      <TableOf
        caption="Driver memory over time"
        columns={overTime}
        rows={device.columns}
        rowKey={({ timeNs }) => String(timeNs)}
      />
    </Card>
  );
}

/** "tee: …; times are right within 12.0 µs". */
function howRecorded({ mode, reason, clockErrorNs }: DriverSeries): string {
  const how = [mode, reason].filter((part) => part !== '').join(': ');
  const clock = clockErrorNs > 0n ? `times are right within ${formatDuration(clockErrorNs)}` : '';
  return [how, clock].filter((part) => part !== '').join('; ');
}

function Chart({ device, target }: { readonly device: DriverSeries; readonly target: Target }) {
  const [hover, setHover] = useState<number>();
  const palette = paletteOf(theme.value);
  const arrays = useMemo(() => driverArrays(device, target.originNs), [device, target.originNs]);
  const lines = [
    { label: 'size of the device', colour: palette.limit, dash: [6, 4] },
    { label: 'taken, by anyone', colour: palette.device },
    { label: 'allocations of this process', colour: palette.requested, dash: [2, 3] },
    { label: "TensorFlow's pools", colour: palette.inUse, fill: palette.inUseFill },
  ];
  return (
    <>
      <ul class="legend">
        {lines.map(({ label, colour, dash }) => (
          <li key={label}>
            <span
              class="swatch line"
              style={{ borderTopColor: colour, borderTopStyle: dash ? 'dashed' : 'solid' }}
            />{' '}
            {label}
          </li>
        ))}
      </ul>
      <TimeChart
        {...timeInteractions(target)}
        height={200}
        top={driverTop(arrays)}
        data={arrays}
        lines={lines}
        bands={[{ upper: 1, lower: 3, fill: palette.deviceFill }]}
        label="Driver memory over time. Arrow keys move and zoom."
        onHover={(at) => setHover(at?.index)}
      />
      <p class="readout">
        {hover === undefined
          ? "The band is what is taken beside TensorFlow's pools. Point into the chart to read its numbers."
          : [
              formatMoment(arrays[0]?.[hover] ?? 0, 1e3),
              ...lines.map(
                ({ label }, line) => `${label} ${formatBytes(arrays[line + 1]?.[hover] ?? 0)}`,
              ),
            ].join(' · ')}
      </p>
    </>
  );
}

import { useMemo } from 'preact/hooks';
import { paletteOf } from '../../chart/palette';
import type { Question } from '../../data/source';
import { formatDuration } from '../../format/time';
import type { DriverSeries } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { theme } from '../../store/theme';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { DataTable, tableText } from '../../ui/DataTable';
import { Help } from '../../ui/Help';
import { LinesOverTime } from '../../ui/LinesOverTime';
import { TableOf } from '../../ui/TableOf';
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
  const palette = paletteOf(theme.value);
  return (
    <LinesOverTime
      target={target}
      columns={device.columns}
      lines={[
        {
          label: 'size of the device',
          colour: palette.limit,
          dash: [6, 4],
          value: ({ deviceTotalBytes }) => deviceTotalBytes,
        },
        {
          label: 'taken, by anyone',
          colour: palette.device,
          value: ({ deviceTotalBytes, deviceFreeMinBytes }) =>
            deviceTotalBytes - deviceFreeMinBytes,
        },
        {
          label: 'allocations of this process',
          colour: palette.requested,
          dash: [2, 3],
          value: ({ driverBytes }) => driverBytes,
        },
        {
          label: "TensorFlow's pools",
          colour: palette.inUse,
          fill: palette.inUseFill,
          value: ({ poolBytes }) => poolBytes,
        },
      ]}
      bands={[{ upper: 1, lower: 3, fill: palette.deviceFill }]}
      height={200}
      label="Driver memory over time. Arrow keys move and zoom."
      hint="The band is what is taken beside TensorFlow's pools. Point into the chart to read its numbers."
    />
  );
}

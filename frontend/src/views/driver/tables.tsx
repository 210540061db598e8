/** The tables of driver memory. */
import { formatAddress, formatBytes } from '../../format/bytes';
import type {
  DriverColumn,
  DriverPool,
  DriverRow,
  DriverSample,
} from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { bytesColumn, countColumn, momentColumn, timeColumn } from '../../ui/columns';
import type { DataColumn } from '../../ui/DataTable';

export const ROW_COLUMNS: readonly DataColumn<DriverRow>[] = [
  {
    title: 'Kind',
    text: ({ memoryKind, onDevice }) => (onDevice ? memoryKind : `${memoryKind} (in the host)`),
  },
  {
    title: 'Whose',
    text: ({ allocator, source }) => allocator || source || 'not recorded',
    cell: ({ allocator, source }) =>
      allocator !== '' ? (
        <>
          <strong>{allocator}</strong>, TensorFlow's pool
        </>
      ) : (
        <span title={source}>{source.split('/').at(-1) || 'not recorded'}</span>
      ),
  },
  { title: 'Driver pool', text: ({ pool }) => (pool === 0n ? '–' : formatAddress(pool)) },
  bytesColumn('Live', ({ liveBytes }) => liveBytes),
  bytesColumn('Peak', ({ peakBytes }) => peakBytes),
  countColumn('Allocations', ({ allocCount }) => allocCount),
  countColumn('Frees', ({ freeCount }) => freeCount),
];

export const POOL_COLUMNS: readonly DataColumn<DriverPool>[] = [
  { title: 'Address', text: ({ address }) => formatAddress(address) },
  bytesColumn('Size', ({ sizeBytes }) => sizeBytes),
  bytesColumn('Peak', ({ peakSizeBytes }) => peakSizeBytes),
  {
    title: 'Used',
    numeric: true,
    text: ({ utilizedBytes }) => String(utilizedBytes),
    cell: ({ utilizedBytes }) => (utilizedBytes === 0n ? '–' : formatBytes(utilizedBytes)),
  },
  bytesColumn('Kept when free', ({ releaseThresholdBytes }) => releaseThresholdBytes),
  { title: 'Last seen', text: ({ lastOperation }) => lastOperation || '–' },
];

export function sampleColumns(target: Target): readonly DataColumn<DriverSample>[] {
  return [
    momentColumn('Time', target, ({ timeNs }) => timeNs),
    { title: 'Why', text: ({ reason }) => reason },
    bytesColumn('Free', ({ deviceFreeBytes }) => deviceFreeBytes),
    bytesColumn('Of', ({ deviceTotalBytes }) => deviceTotalBytes),
    bytesColumn("TensorFlow's pools", ({ poolBytes }) => poolBytes),
    bytesColumn('Beside them', ({ gapBytes }) => gapBytes),
    bytesColumn('Other processes', ({ othersBytes }) => othersBytes),
  ];
}

export function columnColumns(target: Target): readonly DataColumn<DriverColumn>[] {
  return [
    timeColumn(target),
    bytesColumn('Size of the device', ({ deviceTotalBytes }) => deviceTotalBytes),
    bytesColumn('Lowest free', ({ deviceFreeMinBytes }) => deviceFreeMinBytes),
    bytesColumn("TensorFlow's pools", ({ poolBytes }) => poolBytes),
    bytesColumn('Allocations of this process', ({ driverBytes }) => driverBytes),
    bytesColumn('Beside the pools', ({ gapBytes }) => gapBytes),
    bytesColumn('Of this process, by the driver', ({ processBytes }) => processBytes),
  ];
}

/** The device under a pool: what else is on it, beside the pool's own numbers. */
import type { DriverMemory, DriverSeries } from '../../generated/datasets_pb';
import { lastAtOrBefore } from './search';

/** The device that a pool lies on; undefined where the trace knows of none, or never looked. */
export function deviceUnder(
  { series }: DriverMemory,
  host: string,
  allocator: string,
): DriverSeries | undefined {
  return series.find(
    (device) =>
      device.host === host &&
      device.allocators.includes(allocator) &&
      device.columns.some(({ deviceTotalBytes }) => deviceTotalBytes > 0n),
  );
}

export interface DeviceArrays {
  /** Taken on the device by anyone; what the pool reserved while nobody had looked. */
  readonly taken: Float64Array;
  readonly totalBytes: number;
}

/** The device at each of the pool's times, which lie anywhere between the device's own. */
export function deviceArrays(
  device: DriverSeries,
  originNs: bigint,
  time: Float64Array,
  reserved: Float64Array,
): DeviceArrays {
  const { columns } = device;
  const own = Float64Array.from(columns, ({ timeNs }) => Number(timeNs - originNs));
  let totalBytes = 0;
  const taken = Float64Array.from(time, (moment, point) => {
    const column = columns[Math.max(0, lastAtOrBefore(own, moment))];
    const pool = reserved[point] ?? 0;
    if (!column || column.deviceTotalBytes === 0n) return pool;
    totalBytes = Math.max(totalBytes, Number(column.deviceTotalBytes));
    return Math.max(pool, Number(column.deviceTotalBytes - column.deviceFreeMinBytes));
  });
  return { taken, totalBytes };
}

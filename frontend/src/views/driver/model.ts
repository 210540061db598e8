import type { DriverColumn, DriverSeries } from '../../generated/datasets_pb';

/** Time, then: device total, taken on the device, driver allocations, pools. */
export function driverArrays(series: DriverSeries, originNs: bigint): readonly Float64Array[] {
  const { columns } = series;
  const pick = (value: (column: DriverColumn) => bigint) =>
    Float64Array.from(columns, (column) => Number(value(column)));
  return [
    Float64Array.from(columns, ({ timeNs }) => Number(timeNs - originNs)),
    pick(({ deviceTotalBytes }) => deviceTotalBytes),
    pick(({ deviceTotalBytes, deviceFreeMinBytes }) => deviceTotalBytes - deviceFreeMinBytes),
    pick(({ driverBytes }) => driverBytes),
    pick(({ poolBytes }) => poolBytes),
  ];
}

/** The top of the y axis over all lines. */
export function driverTop([, ...lines]: readonly Float64Array[]): number {
  return (
    lines.reduce((top, line) => line.reduce((most, value) => Math.max(most, value), top), 1024) *
    1.06
  );
}

/** Which lines and areas the timeline draws, from the ground up. */
import { coloursOf } from '../../chart/nameColours';
import type { Palette } from '../../chart/palette';
import type { Line, TimeChartProps } from '../../chart/TimeChart';
import type { DeviceArrays } from './device';
import type { TimelineArrays } from './model';
import type { Stack } from './stack';

type Drawn = Required<Pick<TimeChartProps, 'lines' | 'data' | 'bands'>>;

/** Areas under one another have to be drawn from the highest to the lowest. */
export function drawnLines(
  arrays: TimelineArrays,
  stack: Stack,
  device: DeviceArrays | undefined,
  palette: Palette,
): Drawn {
  const drawn: { readonly line: Line; readonly values: Float64Array }[] = [];
  const add = (line: Line, values: Float64Array) => drawn.push({ line, values }) - 1;

  const taken =
    device && add({ label: 'taken on the device', colour: palette.device, width: 1 }, device.taken);
  const reserved = add(
    { label: 'reserved', colour: palette.reserved, fill: palette.reservedFill },
    arrays.reserved,
  );
  const colours = coloursOf(palette, stack.keys);
  for (let area = stack.keys.length - 1; area >= 0; area -= 1) {
    add(
      { label: stack.keys[area] ?? '', colour: 'transparent', fill: colours[area] ?? '', width: 0 },
      stack.edges[area] as Float64Array,
    );
  }
  const stacked = stack.keys.length > 0;
  const highest = add(
    { label: 'in use, highest', colour: palette.inUse, points: arrays.events !== undefined },
    arrays.inUseMax,
  );
  const lowest = add(
    {
      label: 'in use, lowest',
      colour: 'transparent',
      width: 0,
      ...(!stacked && { fill: palette.inUseFill }),
    },
    arrays.inUseMin,
  );
  add(
    { label: 'requested', colour: palette.requested, width: 1.25, dash: [2, 3] },
    arrays.requested,
  );
  return {
    lines: drawn.map(({ line }) => line),
    data: [arrays.time, ...drawn.map(({ values }) => values)],
    bands: [
      ...(taken === undefined ? [] : [{ upper: taken, lower: reserved, fill: palette.deviceFill }]),
      ...(stacked ? [] : [{ upper: highest, lower: lowest, fill: palette.inUseFill }]),
    ],
  };
}

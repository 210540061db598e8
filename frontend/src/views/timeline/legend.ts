/** What the lines and signs of the timeline mean. */
import { coloursOf } from '../../chart/nameColours';
import type { Palette } from '../../chart/palette';
import { type DriverSeries, MarkKind, type TimelineSeries } from '../../generated/datasets_pb';
import type { LegendEntry } from '../../ui/Legend';

const LINES: readonly LegendEntry[] = [
  {
    name: 'in use',
    sign: 'in-use',
    help: "Bytes that TensorFlow's operations hold at that moment. Where several events fall into one pixel, the area spans the lowest and the highest use.",
  },
  {
    name: 'requested',
    sign: 'requested',
    help: 'What the operations asked for. The allocator rounds up to 256 bytes and hands out a whole chunk where little would be left over: the distance to what is in use is lost inside.',
  },
  {
    name: 'reserved',
    sign: 'reserved',
    help: "What the pool (TensorFlow's BFC allocator) has taken from the device. It keeps memory that is free inside, to hand it out again.",
  },
];

export function legendEntries(
  series: TimelineSeries,
  stacked: readonly string[],
  device: DriverSeries | undefined,
  palette: Palette,
): readonly LegendEntry[] {
  const colours = coloursOf(palette, stacked);
  const entries = [...LINES];
  if (series.limitBytes > 0n) {
    entries.push({
      name: 'limit',
      sign: 'limit',
      term: 'the limit',
      help: 'The most that the pool may reserve.',
    });
  }
  if (device) {
    entries.push({
      name: `the rest of ${device.deviceName || device.device}`,
      sign: 'device',
      term: 'the rest of the device',
      help: 'What is taken on the device beside this pool: CUDA itself, libraries such as cuDNN, other pools and other processes. It is known from the moment of the first look at the device.',
    });
  }
  if (series.marks.some(({ kind }) => kind === MarkKind.MARK_OOM)) {
    entries.push({ name: 'refused request, to scale', sign: 'oom' });
  }
  entries.push({ name: 'moment shown below', sign: 'moment' });
  return [
    ...entries,
    ...stacked.map((name, index) => ({ name, colour: colours[index] ?? palette.other })),
  ];
}

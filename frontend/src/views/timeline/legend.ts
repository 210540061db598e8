/** What the lines and signs of the timeline mean. */
import { coloursOf } from '../../chart/nameColours';
import type { Palette } from '../../chart/palette';
import { type DriverSeries, MarkKind, type TimelineSeries } from '../../generated/datasets_pb';
import type { LegendEntry } from '../../ui/Legend';

export function legendEntries(
  series: TimelineSeries,
  stacked: readonly string[],
  device: DriverSeries | undefined,
  palette: Palette,
): readonly LegendEntry[] {
  const colours = coloursOf(palette, stacked);
  const hasOom = series.marks.some(({ kind }) => kind === MarkKind.MARK_OOM);
  const entries: readonly (LegendEntry | false | undefined)[] = [
    {
      name: 'in use',
      sign: 'area',
      colour: palette.inUse,
      help: "Bytes that TensorFlow's operations hold at that moment. Where several events fall into one pixel, the area spans the lowest and the highest use.",
    },
    {
      name: 'requested',
      sign: 'dotted',
      colour: palette.requested,
      help: 'What the operations asked for. The allocator rounds up to 256 bytes and hands out a whole chunk where little would be left over: the distance to what is in use is lost inside.',
    },
    {
      name: 'reserved',
      sign: 'area',
      colour: palette.reserved,
      help: "What the pool (TensorFlow's BFC allocator) has taken from the device. It keeps memory that is free inside, to hand it out again.",
    },
    series.limitBytes > 0n && {
      name: 'limit',
      sign: 'dashed',
      colour: palette.limit,
      term: 'the limit',
      help: 'The most that the pool may reserve.',
    },
    device && {
      name: `the rest of ${device.deviceName || device.device}`,
      sign: 'area',
      colour: palette.device,
      term: 'the rest of the device',
      help: 'What is taken on the device beside this pool: CUDA itself, libraries such as cuDNN, other pools and other processes. It is known from the moment of the first look at the device.',
    },
    hasOom && { name: 'refused request, to scale', colour: palette.oom },
    { name: 'moment shown below', sign: 'moment', colour: palette.moment },
    ...stacked.map((name, index) => ({ name, colour: colours[index] ?? palette.other })),
  ];
  return entries.filter((entry) => typeof entry === 'object');
}

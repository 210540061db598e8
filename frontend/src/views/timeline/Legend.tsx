import { coloursOf } from '../../chart/nameColours';
import { paletteOf } from '../../chart/palette';
import { type DriverSeries, MarkKind, type TimelineSeries } from '../../generated/datasets_pb';
import { theme } from '../../store/theme';
import { Help } from '../../ui/Help';

interface LegendProps {
  readonly series: TimelineSeries;
  readonly stacked: readonly string[];
  readonly device: DriverSeries | undefined;
}

/** What the lines and signs of the timeline mean. */
export function Legend({ series, stacked, device }: LegendProps) {
  const colours = coloursOf(paletteOf(theme.value), stacked);
  return (
    <ul class="legend">
      <li>
        <span class="swatch in-use" /> in use
        <Help term="in use">
          Bytes that TensorFlow's operations hold at that moment. Where several events fall into one
          pixel, the area spans the lowest and the highest use.
        </Help>
      </li>
      <li>
        <span class="swatch requested" /> requested
        <Help term="requested">
          What the operations asked for. The allocator rounds up to 256 bytes and hands out a whole
          chunk where little would be left over: the distance to what is in use is lost inside.
        </Help>
      </li>
      <li>
        <span class="swatch reserved" /> reserved
        <Help term="reserved">
          What the pool (TensorFlow's BFC allocator) has taken from the device. It keeps memory that
          is free inside, to hand it out again.
        </Help>
      </li>
      {series.limitBytes > 0n && (
        <li>
          <span class="swatch limit" /> limit
          <Help term="the limit">The most that the pool may reserve.</Help>
        </li>
      )}
      {device && (
        <li>
          <span class="swatch device" /> the rest of {device.deviceName || device.device}
          <Help term="the rest of the device">
            What is taken on the device beside this pool: CUDA itself, libraries such as cuDNN,
            other pools and other processes. It is known from the moment of the first look at the
            device.
          </Help>
        </li>
      )}
      {series.marks.some(({ kind }) => kind === MarkKind.MARK_OOM) && (
        <li>
          <span class="swatch oom" /> refused request, to scale
        </li>
      )}
      <li>
        <span class="swatch moment" /> moment shown below
      </li>
      {stacked.map((key, index) => (
        <li key={key}>
          <span class="swatch" style={{ background: colours[index] }} />{' '}
          <span class="legend-name" title={key}>
            <bdi>{key || '(none)'}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}

import { useMemo, useState } from 'preact/hooks';
import { highest, lineArrays, type ValueLine } from '../chart/lines';
import { TimeChart, type TimeChartProps } from '../chart/TimeChart';
import { formatBytes } from '../format/bytes';
import { formatMoment } from '../format/time';
import type { Target } from '../store/target';
import { timeInteractions } from '../store/timeWindow';
import { Legend } from './Legend';

export interface LegendLine<Column> extends ValueLine<Column> {
  readonly help?: string;
}

interface LinesOverTimeProps<Column>
  extends Pick<TimeChartProps, 'height' | 'label' | 'formatY' | 'ticksY' | 'bands'> {
  readonly target: Target;
  readonly columns: readonly Column[];
  readonly lines: readonly LegendLine<Column>[];
  /** The top of the axis, where it is not the highest value. */
  readonly top?: number;
  /** What is said until the pointer is in the chart. */
  readonly hint: string;
}

/** Lines over time with their legend and, under the pointer, their numbers. */
export function LinesOverTime<Column extends { readonly timeNs: bigint }>({
  target,
  columns,
  lines,
  top,
  hint,
  formatY = formatBytes,
  ...chart
}: LinesOverTimeProps<Column>) {
  const [hover, setHover] = useState<number>();
  const labels = lines.map(({ label }) => label).join();
  // The labels stand for the lines: which values they are does not change
  const arrays = useMemo(
    () => lineArrays(columns, lines, target.originNs),
    [columns, labels, target.originNs],
  );
  const at = hover === undefined ? undefined : columns[hover];
  return (
    <>
      <Legend
        entries={lines.map(({ label, colour, fill, dash, help }) => ({
          name: label,
          colour,
          sign: fill ? 'area' : dash ? 'dashed' : 'line',
          ...(help && { help }),
        }))}
      />
      <TimeChart
        {...timeInteractions(target)}
        {...chart}
        formatY={formatY}
        top={top ?? highest(arrays) * 1.06}
        data={arrays}
        lines={lines}
        onHover={(place) => setHover(place?.index)}
      />
      <p class="readout">
        {at
          ? [
              formatMoment(Number(at.timeNs - target.originNs), 1e3),
              ...lines.map(({ label, value }) => `${label} ${formatY(Number(value(at)))}`),
            ].join(' · ')
          : hint}
      </p>
    </>
  );
}

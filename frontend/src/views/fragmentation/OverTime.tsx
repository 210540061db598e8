import { useMemo } from 'preact/hooks';
import { type Palette, paletteOf } from '../../chart/palette';
import { shareTicks } from '../../chart/ticks';
import { FRAGMENTATION } from '../../data/query';
import { formatBytes, formatShare } from '../../format/bytes';
import type { FragmentationColumn } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { theme } from '../../store/theme';
import { AnswerCard } from '../../ui/AnswerCard';
import { numberColumn, timeColumn } from '../../ui/columns';
import { tableText } from '../../ui/DataTable';
import { type LegendLine, LinesOverTime } from '../../ui/LinesOverTime';
import { TableOf } from '../../ui/TableOf';
import { useWindowed } from '../../ui/useWindowed';
import { MEASURES, requestOf } from './model';

/** Free memory and its largest hole over time, and each measure of fragmentation by its name. */
export function OverTime({ target }: { readonly target: Target }) {
  // The answer carries a map too; that of the start is the smallest.
  const { body, asked } = useWindowed(FRAGMENTATION, target, {
    at: { at: { case: 'event', value: -1n } },
  });
  const columns = asked.data?.series[0]?.columns ?? [];
  const table = useMemo(() => tableColumns(target), [target]);
  const palette = paletteOf(theme.value);
  return (
    <AnswerCard
      title="Free memory over time"
      note="At the moment of each column when the largest hole was smallest"
      name="fragmentation"
      asked={asked}
      body={body}
      table={() => tableText(table, columns)}
      waiting="Measuring the holes…"
    >
      {() => (
        <>
          <LinesOverTime
            target={target}
            columns={columns}
            lines={sizeLines(requestOf(columns), palette)}
            height={180}
            label="Free memory and the largest hole over time. Arrow keys move and zoom."
            hint="Point into a chart to read its numbers."
          />
          <LinesOverTime
            target={target}
            columns={columns}
            lines={MEASURES.map(({ name, help, value }, index) => ({
              label: name,
              help,
              colour: [palette.moment, palette.oom, palette.reserved][index] ?? palette.other,
              value: ({ worst }: FragmentationColumn) => (worst ? value(worst) : 0),
            }))}
            height={150}
            top={1.05}
            formatY={formatShare}
            ticksY={shareTicks}
            label="Measures of fragmentation over time. Arrow keys move and zoom."
            hint=""
          />
          <TableOf
            caption="Free memory over time"
            columns={table}
            rows={columns}
            rowKey={({ timeNs }) => String(timeNs)}
          />
        </>
      )}
    </AnswerCard>
  );
}

function sizeLines(request: bigint, palette: Palette): readonly LegendLine<FragmentationColumn>[] {
  return [
    {
      label: 'free in the pool',
      colour: palette.inUse,
      fill: palette.inUseFill,
      value: ({ worst }) => worst?.freeBytes ?? 0n,
    },
    {
      label: 'largest hole',
      colour: palette.requested,
      value: ({ worst }) => worst?.largestFreeBytes ?? 0n,
    },
    ...(request > 0n
      ? [
          {
            label: `the request: ${formatBytes(request)}`,
            colour: palette.oom,
            dash: [6, 4],
            value: () => request,
          },
        ]
      : []),
  ];
}

function tableColumns(target: Target) {
  return [
    timeColumn<FragmentationColumn>(target),
    numberColumn<FragmentationColumn>('Free (bytes)', ({ worst }) => worst?.freeBytes),
    numberColumn<FragmentationColumn>(
      'Largest hole (bytes)',
      ({ worst }) => worst?.largestFreeBytes,
    ),
    numberColumn<FragmentationColumn>('Holes', ({ worst }) => worst?.freeChunkCount),
    ...MEASURES.map(({ name, value }) =>
      numberColumn<FragmentationColumn>(name, ({ worst }) => worst && value(worst)),
    ),
  ];
}

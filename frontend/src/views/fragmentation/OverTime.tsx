import { useMemo, useState } from 'preact/hooks';
import { paletteOf } from '../../chart/palette';
import { TimeChart } from '../../chart/TimeChart';
import { shareTicks } from '../../chart/ticks';
import { FRAGMENTATION } from '../../data/query';
import { formatBytes, formatShare } from '../../format/bytes';
import { formatMoment } from '../../format/time';
import type { FragmentationSeries } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { theme } from '../../store/theme';
import { timeInteractions } from '../../store/timeWindow';
import { Card } from '../../ui/Card';
import type { DataColumn } from '../../ui/DataTable';
import { tableText } from '../../ui/DataTable';
import { Help } from '../../ui/Help';
import { Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { TableOf } from '../../ui/TableOf';
import { useWindowed } from '../../ui/useWindowed';
import { fragmentationArrays, MEASURES, requestOf } from './model';

/** Free memory and its largest hole over time, and each measure of fragmentation by its name. */
export function OverTime({ target }: { readonly target: Target }) {
  // The answer carries a map too; that of the start is the smallest.
  const { body, asked } = useWindowed(FRAGMENTATION, target, {
    at: { at: { case: 'event', value: -1n } },
  });
  const series = asked.data?.series[0];
  const table = useMemo(() => tableColumns(target), [target]);
  return (
    <Card
      title="Free memory over time"
      note="At the moment of each column when the largest hole was smallest"
      busy={asked.loading}
      exports={{
        name: 'fragmentation',
        table: () => tableText(table, series?.columns ?? []),
        question: asked.question,
      }}
    >
      <div ref={body}>
        {asked.error && <Failed error={asked.error} />}
        {!series && asked.loading && <Waiting run={target.run} what="Measuring the holes…" />}
        {series && <Charts target={target} series={series} />}
        {series && (
          <TableOf
            caption="Free memory over time"
            columns={table}
            rows={series.columns}
            rowKey={({ timeNs }) => String(timeNs)}
          />
        )}
        {asked.data && <QualityNotes quality={asked.data.quality} />}
      </div>
    </Card>
  );
}

function Charts({
  target,
  series,
}: {
  readonly target: Target;
  readonly series: FragmentationSeries;
}) {
  const [hover, setHover] = useState<number>();
  const palette = paletteOf(theme.value);
  const arrays = useMemo(
    () => fragmentationArrays(series, target.originNs),
    [series, target.originNs],
  );
  const sizes = useMemo(() => [arrays.time, arrays.free, arrays.largestFree], [arrays]);
  const shares = useMemo(() => [arrays.time, arrays.bfc, arrays.unusable, arrays.waste], [arrays]);
  const request = requestOf(series.columns);
  const top = Math.max(1024, Number(request), ...arrays.free) * 1.06;
  const colours = [palette.moment, palette.oom, palette.reserved] as [string, string, string];
  const worst = hover === undefined ? undefined : series.columns[hover]?.worst;
  return (
    <>
      <ul class="legend">
        <li>
          <span class="swatch in-use" /> free in the pool
        </li>
        <li>
          <span class="swatch" style={{ background: palette.requested }} /> largest hole
        </li>
        {request > 0n && (
          <li>
            <span class="swatch" style={{ borderTop: `2px dashed ${palette.oom}` }} /> the request:{' '}
            {formatBytes(request)}
          </li>
        )}
      </ul>
      <TimeChart
        {...timeInteractions(target)}
        height={180}
        top={top}
        data={sizes}
        lines={[
          { label: 'free', colour: palette.inUse, fill: palette.inUseFill },
          { label: 'largest hole', colour: palette.requested },
        ]}
        label="Free memory and the largest hole over time. Arrow keys move and zoom."
        onHover={(at) => setHover(at?.index)}
        drawOver={(plot, colours) => {
          const y = plot.valToPos(Number(request), 'y', true);
          plot.ctx.save();
          plot.ctx.strokeStyle = colours.oom;
          plot.ctx.lineWidth = 1.5 * devicePixelRatio;
          plot.ctx.setLineDash([6, 4]);
          plot.ctx.beginPath();
          plot.ctx.moveTo(plot.bbox.left, y);
          plot.ctx.lineTo(plot.bbox.left + plot.bbox.width, y);
          if (request > 0n) plot.ctx.stroke();
          plot.ctx.restore();
        }}
      />
      <ul class="legend">
        {MEASURES.map(({ name, help }, index) => (
          <li key={name}>
            <span class="swatch" style={{ background: colours[index] }} /> {name}
            <Help term={name}>{help}</Help>
          </li>
        ))}
      </ul>
      <TimeChart
        {...timeInteractions(target)}
        height={150}
        top={1.05}
        data={shares}
        lines={MEASURES.map(({ name }, index) => ({
          label: name,
          colour: colours[index] as string,
        }))}
        formatY={formatShare}
        ticksY={shareTicks}
        label="Measures of fragmentation over time. Arrow keys move and zoom."
        onHover={(at) => setHover(at?.index)}
      />
      <p class="readout">
        {worst && hover !== undefined
          ? [
              formatMoment(arrays.time[hover] ?? 0, 1e3),
              `${formatBytes(worst.freeBytes)} free, largest hole ${formatBytes(worst.largestFreeBytes)}`,
              ...MEASURES.map(({ name, value }) => `${name} ${formatShare(value(worst))}`),
            ].join(' · ')
          : 'Point into a chart to read its numbers.'}
      </p>
    </>
  );
}

function tableColumns(
  target: Target,
): readonly DataColumn<FragmentationSeries['columns'][number]>[] {
  return [
    {
      title: 'Time (ns after the start)',
      numeric: true,
      text: ({ timeNs }) => String(timeNs - target.originNs),
    },
    { title: 'Free (bytes)', numeric: true, text: ({ worst }) => String(worst?.freeBytes ?? '') },
    {
      title: 'Largest hole (bytes)',
      numeric: true,
      text: ({ worst }) => String(worst?.largestFreeBytes ?? ''),
    },
    { title: 'Holes', numeric: true, text: ({ worst }) => String(worst?.freeChunkCount ?? '') },
    ...MEASURES.map(({ name, value }) => ({
      title: name,
      numeric: true,
      text: ({ worst }: FragmentationSeries['columns'][number]) =>
        worst ? String(value(worst)) : '',
    })),
  ];
}

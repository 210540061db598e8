import { useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../chart/Canvas';
import { type Palette, paletteOf } from '../../chart/palette';
import { TimeChart } from '../../chart/TimeChart';
import { HOST_MEMORY } from '../../data/query';
import type { Question } from '../../data/source';
import { columnsFor } from '../../data/window';
import { formatBytes } from '../../format/bytes';
import { formatMoment } from '../../format/time';
import type { HostMemoryHolder, HostMemorySeries } from '../../generated/datasets_pb';
import { filterOf, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { recordingLength, timeInteractions, visibleRange } from '../../store/timeWindow';
import { useDataset } from '../../store/useDataset';
import { Card } from '../../ui/Card';
import { bytesColumn, countColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { SourceLink } from '../../ui/SourceLine';
import { PART_NAMES, stackOf } from './model';

/** The memory of the host over time, who holds it, and how the process ended. */
export function HostMemory({ target }: { readonly target: Target }) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const columns = columnsFor(visibleRange(target), recordingLength(target), width);
  const { host } = filterOf(target);
  const asked = useDataset(
    HOST_MEMORY,
    width > 0
      ? {
          run: target.run,
          fields: {
            filter: {
              host,
              fromNs: target.originNs + BigInt(columns.from),
              toNs: target.originNs + BigInt(columns.to),
            },
            columns: columns.columns,
          },
        }
      : undefined,
  );
  const [series] = asked.data?.series ?? [];
  return (
    <div ref={body}>
      {series ? (
        <Host series={series} target={target} question={asked.question} />
      ) : (
        <Card
          title="Host memory"
          busy={asked.loading}
          exports={{ name: 'host-memory', question: asked.question }}
        >
          {asked.error && <Failed error={asked.error} />}
          {!asked.data && asked.loading && (
            <Waiting run={target.run} what="Reading the host's memory…" />
          )}
          {asked.data && <Empty title="The memory of the host was not recorded" />}
        </Card>
      )}
    </div>
  );
}

const HOLDER_COLUMNS: readonly DataColumn<HostMemoryHolder>[] = [
  {
    title: 'Line',
    text: ({ line, owner }) => (line ? `${line.file}:${line.line}` : owner),
    cell: ({ line, owner }) =>
      line ? (
        <>
          <SourceLink frame={line} /> <code>{line.text}</code>
        </>
      ) : (
        owner
      ),
  },
  { title: 'Whose', text: ({ owner }) => owner },
  bytesColumn('Live', ({ bytes }) => bytes),
  countColumn('Blocks', ({ count }) => count),
  bytesColumn('More a second', ({ growthBytesPerS }) => growthBytesPerS),
  { title: 'Known', text: ({ estimated }) => (estimated ? 'estimated' : 'exactly') },
];

interface HostProps {
  readonly series: HostMemorySeries;
  readonly target: Target;
  readonly question: Question | undefined;
}

function Host({ series, target, question }: HostProps) {
  const { verdict, end, remedies, holders } = series;
  return (
    <Card
      title="Host memory"
      note={series.limitBytes > 0n ? `limit ${formatBytes(series.limitBytes)}` : ''}
      exports={{
        name: 'host-memory',
        table: () => tableText(HOLDER_COLUMNS, holders),
        question,
      }}
    >
      {end && <p class="host-end">{end.sentence}</p>}
      {verdict?.parts.map(({ kind, sentence }) => (
        <p key={kind}>
          <span class="badge kind">{kind}</span> {sentence}
        </p>
      ))}
      {end && end.seen !== '' && <p class="hint">{end.seen}</p>}
      {remedies.map(({ kind, title, detail }) => (
        <p key={kind}>
          <strong>{title}.</strong> {detail}
        </p>
      ))}
      {series.columns.length > 0 && <Chart series={series} target={target} />}
      {holders.length > 0 && (
        <>
          <h3>Live blocks by line of the program</h3>
          <DataTable
            caption="Live blocks of the host by line"
            columns={HOLDER_COLUMNS}
            rows={holders}
            rowKey={({ line, owner }) => `${line?.file}:${line?.line}/${owner}`}
          />
        </>
      )}
    </Card>
  );
}

function Chart({ series, target }: { readonly series: HostMemorySeries; readonly target: Target }) {
  const [hover, setHover] = useState<number>();
  const palette = paletteOf(theme.value);
  const stack = useMemo(() => stackOf(series, target.originNs), [series, target.originNs]);
  const lines = [
    ...stack.parts
      .map((part) => {
        const name = series.parts[part] ?? '';
        const colour = colourOf(palette, part, name);
        return { label: PART_NAMES[name] ?? name, colour, fill: colour };
      })
      .reverse(),
    { label: 'used, against the limit', colour: palette.limit, dash: [6, 4] },
  ];
  const bytesAt = (line: number, at: number) => {
    const own = stack.arrays[line + 1]?.[at] ?? 0;
    const below = line < stack.parts.length - 1 ? (stack.arrays[line + 2]?.[at] ?? 0) : 0;
    return line < stack.parts.length ? own - below : own;
  };
  return (
    <>
      <ul class="legend">
        {lines.map(({ label, colour }) => (
          <li key={label}>
            <span class="swatch" style={{ backgroundColor: colour }} /> {label}
          </li>
        ))}
      </ul>
      <TimeChart
        {...timeInteractions(target)}
        height={240}
        top={stack.top}
        data={stack.arrays}
        lines={lines}
        label="Host memory over time. Arrow keys move and zoom."
        onHover={(at) => setHover(at?.index)}
      />
      <p class="readout">
        {hover === undefined
          ? 'Areas add up to what the process has in memory. Point into the chart to read its numbers.'
          : [
              formatMoment(stack.arrays[0]?.[hover] ?? 0, 1e3),
              ...lines.map(({ label }, line) => `${label} ${formatBytes(bytesAt(line, hover))}`),
            ].join(' · ')}
      </p>
    </>
  );
}

/** What nobody explains looks like what belongs to no group. */
function colourOf(palette: Palette, part: number, name: string): string {
  if (name === 'unexplained') return palette.other;
  return palette.categories[part] ?? palette.other;
}

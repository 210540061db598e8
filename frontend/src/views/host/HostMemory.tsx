import { type Palette, paletteOf } from '../../chart/palette';
import { HOST_MEMORY } from '../../data/query';
import { formatBytes } from '../../format/bytes';
import type { HostMemoryHolder, HostMemorySeries } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { theme } from '../../store/theme';
import { AnswerCard } from '../../ui/AnswerCard';
import { bytesColumn, countColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { type LegendLine, LinesOverTime } from '../../ui/LinesOverTime';
import { Empty } from '../../ui/Notices';
import { SourceLink } from '../../ui/SourceLine';
import { useWindowed } from '../../ui/useWindowed';

/** The memory of the host over time, and who holds it. How the process ended is the story's. */
export function HostMemory({ target }: { readonly target: Target }) {
  const { body, asked } = useWindowed(HOST_MEMORY, target, { filter: { allocator: '' } });
  const series = asked.data?.series[0];
  return (
    <AnswerCard
      title="Host memory"
      note={series && series.limitBytes > 0n ? `limit ${formatBytes(series.limitBytes)}` : ''}
      name="host-memory"
      asked={asked}
      body={body}
      table={() => tableText(HOLDER_COLUMNS, series?.holders ?? [])}
      waiting="Reading the host's memory…"
    >
      {() =>
        series ? (
          <Host series={series} target={target} />
        ) : (
          <Empty title="The memory of the host was not recorded" />
        )
      }
    </AnswerCard>
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

function Host({ series, target }: { readonly series: HostMemorySeries; readonly target: Target }) {
  const { columns, holders } = series;
  return (
    <>
      {columns.length > 0 && (
        <LinesOverTime
          target={target}
          columns={columns}
          lines={linesOf(series, paletteOf(theme.value))}
          height={240}
          label="Host memory over time. Arrow keys move and zoom."
          hint="Areas add up to what the process has in memory; files that are mapped need not count against the limit. Point into the chart to read its numbers."
        />
      )}
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
    </>
  );
}

/** What the parts of a process's memory are, by their stable names. */
export const PART_NAMES: Readonly<Record<string, string>> = {
  tensors: "tensors of TensorFlow's default allocator",
  pools: "TensorFlow's pools on the CPU",
  native: 'blocks of NumPy and other libraries',
  python: "Python's objects",
  malloc_other: 'other blocks of malloc',
  malloc_free: 'freed, and held by malloc',
  unexplained: 'not explained',
  files: 'files that are mapped, libraries among them',
  shared: 'shared memory',
};

type Column = HostMemorySeries['columns'][number];

/** The parts that are ever more than 0, the highest first; what counts against the limit, and the limit. */
export function linesOf(
  { parts, columns, limitBytes }: HostMemorySeries,
  palette: Palette,
): readonly LegendLine<Column>[] {
  const areas = parts.flatMap((name, part) => {
    const value = ({ partBytes }: Column) => partBytes[part] ?? 0n;
    if (!columns.some((column) => value(column) > 0n)) return [];
    // What nobody explains looks like what belongs to no group.
    const colour = (name !== 'unexplained' && palette.categories[part]) || palette.other;
    return [{ label: PART_NAMES[name] ?? name, colour, fill: colour, stacked: true, value }];
  });
  const used = {
    label: 'used, against the limit',
    colour: palette.text,
    width: 2,
    value: ({ usedBytes }: Column) => usedBytes,
  };
  const limit = { label: 'limit', colour: palette.oom, dash: [6, 4], value: () => limitBytes };
  return [...areas.reverse(), used, ...(limitBytes > 0n ? [limit] : [])];
}

/** Columns of the page's tables. */
import { formatShare } from '../format/bytes';
import { placeName } from '../format/source';
import { formatWallClock } from '../format/time';
import { CopyButton } from '../ui/CopyButton';
import { bytesColumn, countColumn, textColumn } from '../ui/columns';
import type { DataColumn } from '../ui/DataTable';
import { verdictTitle } from '../views/story/verdict';
import type {
  Deadly,
  ErrorRow,
  IncidentRow,
  LineRow,
  NearLimitRow,
  QualityRow,
  RemedyRow,
  ReservedRow,
} from './answers';

const GRADES: Readonly<Record<string, string>> = {
  ENOUGH_ALONE: 'enough alone',
  REQUEST_FITS: 'the request fits',
  UNCERTAIN: 'uncertain',
  NOT_ENOUGH: 'not enough',
};

function bytes<Row>(title: string, value: (row: Row) => number): DataColumn<Row> {
  return bytesColumn(title, (row) => BigInt(Math.round(value(row))));
}

/** The most that a pool may take; some have no limit that is known. */
function limit<Row>(value: (row: Row) => number): DataColumn<Row> {
  const column = bytes('Limit', value);
  return { ...column, cell: (row) => (value(row) === 0 ? 'not known' : column.cell?.(row)) };
}

function count<Row>(title: string, value: (row: Row) => number): DataColumn<Row> {
  return countColumn(title, (row) => BigInt(value(row)));
}

/** A run's address, and the command that opens its story. */
function runColumn<Row extends { readonly url: string }>(): DataColumn<Row> {
  return {
    title: 'Open',
    text: ({ url }) => openingCommand(url),
    cell: ({ url }) => (
      <CopyButton
        text={openingCommand(url)}
        label={`Copy the command that opens ${url}`}
        shown="Copy command"
      />
    ),
  };
}

/** What to type to read a run's story; quoted for a shell. */
export function openingCommand(url: string): string {
  return `oom-forensics report '${url.replaceAll("'", "'\\''")}'`;
}

/** Columns of what dies most, whatever it is called by. */
export function deadlyColumns<Row extends Deadly>(
  ...names: readonly DataColumn<Row>[]
): readonly DataColumn<Row>[] {
  const verdict = textColumn<Row>('Mostly', (row) => verdictTitle(row.verdict ?? ''));
  return [
    ...names,
    count('Incidents', (row) => row.incidents),
    count('Jobs', (row) => row.jobs),
    bytes('Median request', (row) => row.median_request_bytes),
    ...(names.length === 1 ? [verdict] : []),
  ];
}

export const LAYERS = deadlyColumns(
  textColumn<Deadly & { readonly layer: string }>('Layer', ({ layer }) => layer),
);

export const OPS = deadlyColumns(
  textColumn<Deadly & { readonly op: string }>('Op', ({ op }) => op),
);

export const LINES = deadlyColumns<LineRow>(
  {
    title: 'Line',
    text: ({ file, line }) => `${file}:${line}`,
    cell: (row) => <span title={row.file}>{placeName(row)}</span>,
    order: ({ file }) => file,
  },
  { title: 'What it says', text: ({ text }) => text, cell: ({ text }) => <code>{text}</code> },
);

export const REMEDIES: readonly DataColumn<RemedyRow>[] = [
  textColumn('Change', ({ remedy }) => remedy.replaceAll('_', ' ')),
  textColumn('For example', ({ example }) => example),
  count('Incidents', (row) => row.incidents),
  count('Enough alone', (row) => row.enough_alone),
  count('Request fits', (row) => row.request_fits),
  bytes('Median given back', (row) => row.median_bytes),
];

export const RESERVED: readonly DataColumn<ReservedRow>[] = [
  textColumn('Job', ({ job }) => job),
  count('Runs', (row) => row.runs),
  bytes('Limit', (row) => row.limit_bytes),
  bytes('Reserved at most', (row) => row.peak_reserved_bytes),
  bytes('In use at most', (row) => row.peak_in_use_bytes),
  bytes('Reserved, never used', (row) => row.never_used_bytes),
  {
    ...bytes<ReservedRow>('Would do', (row) => row.would_do_bytes),
    text: (row) => (row.incidents > 0 ? '' : String(row.would_do_bytes)),
    cell: (row) =>
      row.incidents > 0
        ? 'ran out of memory'
        : bytes<ReservedRow>('', () => row.would_do_bytes).cell?.(row),
  },
];

export const NEAR_LIMIT: readonly DataColumn<NearLimitRow>[] = [
  textColumn('Job', ({ job }) => job),
  count('Runs', (row) => row.runs),
  textColumn('Allocator', ({ allocator }) => allocator),
  {
    title: 'Of its limit',
    numeric: true,
    text: ({ closeness }) => String(closeness),
    cell: ({ closeness }) => formatShare(closeness),
    order: ({ closeness }) => closeness,
  },
  bytes('In use at most', (row) => row.peak_in_use_bytes),
  bytes('Limit', (row) => row.limit_bytes),
  runColumn(),
];

export const INCIDENTS: readonly DataColumn<IncidentRow>[] = [
  {
    title: 'When',
    text: ({ time_ns }) => String(time_ns),
    cell: ({ time_ns }) => formatWallClock(BigInt(time_ns)),
    order: ({ time_ns }) => time_ns,
  },
  textColumn('Job', ({ job }) => job),
  {
    title: 'Verdict',
    text: ({ verdict }) => verdict,
    cell: ({ verdict, sentence }) => <span title={sentence}>{verdictTitle(verdict)}</span>,
    order: ({ verdict }) => verdict,
  },
  textColumn('Asked for by', ({ op }) => op),
  bytes('Request', (row) => row.requested_bytes),
  bytes('In use', (row) => row.in_use_bytes),
  limit((row) => row.limit_bytes),
  bytes('Largest gap', (row) => row.largest_free_bytes),
  textColumn('First remedy', ({ remedy, sufficiency }) =>
    remedy ? `${remedy} (${GRADES[sufficiency ?? ''] ?? sufficiency})` : '',
  ),
  runColumn(),
];

export const ERRORS: readonly DataColumn<ErrorRow>[] = [
  count('Runs', (row) => row.runs),
  textColumn('What was wrong', ({ example }) => example),
  textColumn('Exit code', ({ exit_code }) => (exit_code === null ? '' : String(exit_code))),
  textColumn('For example', ({ url }) => url),
];

export const QUALITY: readonly DataColumn<QualityRow>[] = [
  textColumn('Severity', ({ severity }) => severity.toLowerCase().replace('_', ' ')),
  count('Runs', (row) => row.runs),
  textColumn('For example', ({ example }) => example),
  textColumn('Name', ({ name }) => name),
];

/** Columns of tables that many views have: exact in exports, readable on screen. */
import { formatAddress, formatDelta, groupDigits } from '../format/bytes';
import { formatMoment } from '../format/time';
import { relativeNs, type Target } from '../store/target';
import { AllocationLink } from './AllocationLink';
import { Bytes } from './Bytes';
import type { DataColumn } from './DataTable';

/** Words, by which the rows can be ordered. */
export function textColumn<Row>(title: string, text: (row: Row) => string): DataColumn<Row> {
  return { title, text, order: text };
}

/** A number as it is, '' where there is none. */
export function numberColumn<Row>(
  title: string,
  value: (row: Row) => bigint | number | undefined,
): DataColumn<Row> {
  return {
    title,
    numeric: true,
    text: (row) => String(value(row) ?? ''),
    order: (row) => value(row) ?? 0n,
  };
}

/** A size: bytes in exports, the unit that reads best on screen. */
export function bytesColumn<Row>(title: string, value: (row: Row) => bigint): DataColumn<Row> {
  return { ...numberColumn(title, value), cell: (row) => <Bytes value={value(row)} /> };
}

/** What was gained or lost, with its sign. */
export function deltaColumn<Row>(title: string, value: (row: Row) => bigint): DataColumn<Row> {
  return {
    ...numberColumn(title, value),
    cell: (row) => {
      const delta = value(row);
      const way = delta > 0n ? 'grew' : delta < 0n ? 'shrank' : '';
      return <span class={`number ${way}`}>{formatDelta(delta)}</span>;
    },
  };
}

/** A number of things. */
export function countColumn<Row>(title: string, value: (row: Row) => bigint): DataColumn<Row> {
  return { ...numberColumn(title, value), cell: (row) => groupDigits(value(row)) };
}

/** When a column of a chart begins. */
export function timeColumn<Row extends { readonly timeNs: bigint }>(
  target: Target,
): DataColumn<Row> {
  return numberColumn('Time (ns after the start)', ({ timeNs }) => timeNs - target.originNs);
}

/** A moment: ns since the epoch in exports, after the start on screen; 0: `none`. */
export function momentColumn<Row>(
  title: string,
  target: Target,
  value: (row: Row) => bigint,
  none = '–',
): DataColumn<Row> {
  return {
    ...numberColumn(title, value),
    text: (row) => (value(row) === 0n ? '' : String(value(row))),
    cell: (row) => (value(row) === 0n ? none : formatMoment(relativeNs(target, value(row)), 1e3)),
  };
}

export function addressColumn<Row>(value: (row: Row) => bigint): DataColumn<Row> {
  return {
    title: 'Address',
    text: (row) => (value(row) === 0n ? '–' : formatAddress(value(row))),
    order: value,
  };
}

/** An operation's name that opens the life of its allocation; only the name where there is none. */
export function operationColumn<Row>(
  nameOf: (row: Row) => string,
  idOf: (row: Row) => bigint | undefined,
): DataColumn<Row> {
  return {
    ...textColumn('Operation', nameOf),
    cell: (row) => {
      const id = idOf(row);
      return id === undefined ? nameOf(row) : <AllocationLink id={id} name={nameOf(row)} />;
    },
  };
}

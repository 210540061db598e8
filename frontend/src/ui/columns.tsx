/** Columns of tables that many views have: sizes and counts, exact in exports. */
import { formatDelta, groupDigits } from '../format/bytes';
import { Bytes } from './Bytes';
import type { DataColumn } from './DataTable';

/** A size: bytes in exports, the unit that reads best on screen. */
export function bytesColumn<Row>(title: string, value: (row: Row) => bigint): DataColumn<Row> {
  return {
    title,
    numeric: true,
    text: (row) => String(value(row)),
    cell: (row) => <Bytes value={value(row)} />,
    order: value,
  };
}

/** What was gained or lost, with its sign. */
export function deltaColumn<Row>(title: string, value: (row: Row) => bigint): DataColumn<Row> {
  return {
    title,
    numeric: true,
    text: (row) => String(value(row)),
    cell: (row) => {
      const delta = value(row);
      const way = delta > 0n ? 'grew' : delta < 0n ? 'shrank' : '';
      return <span class={`number ${way}`}>{formatDelta(delta)}</span>;
    },
    order: value,
  };
}

/** A number of things. */
export function countColumn<Row>(title: string, value: (row: Row) => bigint): DataColumn<Row> {
  return {
    title,
    numeric: true,
    text: (row) => String(value(row)),
    cell: (row) => groupDigits(value(row)),
    order: value,
  };
}

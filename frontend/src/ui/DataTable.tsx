import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface DataColumn<Row> {
  readonly title: string;
  readonly numeric?: boolean;
  /** What is copied and saved: exact, without units that hide digits. */
  readonly text: (row: Row) => string;
  /** What is shown, where that is something else. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** What rows are ordered by; a column without it is not sorted by. */
  readonly order?: (row: Row) => bigint | number | string;
}

interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string;
  readonly selected?: (row: Row) => boolean;
}

/** Characters of a text that is not broken over two lines. */
const SHORT = 24;

/** A sortable table of the few hundred rows of one answer. */
export function DataTable<Row>({ caption, columns, rows, rowKey, selected }: DataTableProps<Row>) {
  const [sorting, setSorting] = useState<{ column: number; ascending: boolean }>();
  const order = sorting && columns[sorting.column]?.order;
  const sorted = order ? sortRows(rows, order, sorting.ascending) : rows;
  return (
    // Focusable, so that a wide table can be scrolled by keyboard.
    <div class="data-table" tabIndex={0} role="region" aria-label={`Table: ${caption}`}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={column.title}
                scope="col"
                class={column.numeric ? 'numeric' : ''}
                aria-sort={
                  sorting?.column === index
                    ? sorting.ascending
                      ? 'ascending'
                      : 'descending'
                    : 'none'
                }
              >
                {column.order ? (
                  <button
                    type="button"
                    onClick={() =>
                      setSorting({
                        column: index,
                        ascending: sorting?.column === index ? !sorting.ascending : false,
                      })
                    }
                  >
                    {column.title}
                    <span aria-hidden="true">
                      {sorting?.column === index ? (sorting.ascending ? ' ▲' : ' ▼') : ''}
                    </span>
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row, index) => (
            <tr key={rowKey(row, index)} class={selected?.(row) ? 'selected' : ''}>
              {columns.map((column) => (
                <td
                  key={column.title}
                  class={`${column.numeric ? 'numeric' : ''} ${column.text(row).length <= SHORT ? 'short' : ''}`}
                >
                  {column.cell ? column.cell(row) : column.text(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The same table as lines of cells, the titles first: for the clipboard and for files. */
export function tableText<Row>(
  columns: readonly DataColumn<Row>[],
  rows: readonly Row[],
): readonly (readonly string[])[] {
  return [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ text }) => text(row))),
  ];
}

function sortRows<Row>(
  rows: readonly Row[],
  order: (row: Row) => bigint | number | string,
  ascending: boolean,
): readonly Row[] {
  const direction = ascending ? 1 : -1;
  return rows.toSorted((a, b) => {
    const left = order(a);
    const right = order(b);
    return left < right ? -direction : left > right ? direction : 0;
  });
}

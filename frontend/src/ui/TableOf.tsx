import { useState } from 'preact/hooks';
import { type DataColumn, DataTable } from './DataTable';

interface TableOfProps<Row> {
  readonly caption: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string;
  readonly summary?: string;
}

const MOST_ROWS = 500;

/** The numbers behind a picture, for those who do not see it and those who want them exactly. */
export function TableOf<Row>({
  caption,
  columns,
  rows,
  rowKey,
  summary = 'Show as a table',
}: TableOfProps<Row>) {
  // Hundreds of rows that nobody sees would slow down every move of the pointer.
  const [open, setOpen] = useState(false);
  return (
    <details class="table-of" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && (
        <DataTable
          caption={caption}
          columns={columns}
          rows={rows.slice(0, MOST_ROWS)}
          rowKey={rowKey}
        />
      )}
      {open && rows.length > MOST_ROWS && (
        <p class="hint">
          The first {MOST_ROWS} of {rows.length} rows; the export has all.
        </p>
      )}
    </details>
  );
}

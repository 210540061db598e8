import { useEffect, useRef, useState } from 'preact/hooks';
import { questionOf } from '../../data/client';
import { ALLOCATIONS, type QueryFields } from '../../data/query';
import type { Allocation, SortKey } from '../../generated/datasets_pb';
import { client } from '../../store/session';
import { COLUMNS, type Column } from './columns';
import { listHeight, PAGE_ROWS, pagesOf, ROW_HEIGHT, rowTop, visibleRows } from './pages';

export interface Sorting {
  readonly key: SortKey;
  readonly ascending: boolean;
}

interface TableProps {
  readonly run: string;
  readonly fields: QueryFields;
  readonly total: number;
  readonly sorting: Sorting;
  readonly onSort: (sorting: Sorting) => void;
}

const HEIGHT = 420;
const GRID = COLUMNS.map(({ width }) => width).join(' ');

/** A table of any length: only the rows on screen exist, only their pages are asked for. */
export function Table({ run, fields, total, sorting, onSort }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const rows = visibleRows(top, HEIGHT, total);
  const pages = usePages(run, fields, pagesOf(rows));
  const key = JSON.stringify(questionOf(ALLOCATIONS, run, fields));
  // Another question begins at its top
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [key]);
  const shown = Array.from({ length: rows.end - rows.first }, (_, index) => rows.first + index);
  return (
    <div
      class="table"
      role="table"
      aria-label="Live allocations"
      aria-rowcount={total + 1}
      aria-colcount={COLUMNS.length}
    >
      <div
        class="table-row table-head"
        role="row"
        aria-rowindex={1}
        style={{ gridTemplateColumns: GRID }}
      >
        {COLUMNS.map((column) => (
          <HeaderCell key={column.title} column={column} sorting={sorting} onSort={onSort} />
        ))}
      </div>
      <div
        ref={scroller}
        class="table-body"
        style={{ height: `${Math.min(HEIGHT, total * ROW_HEIGHT + 2)}px` }}
        // Scrolled by keyboard
        tabIndex={0}
        role="rowgroup"
        aria-label="Rows"
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <div style={{ height: `${listHeight(total)}px`, position: 'relative' }} role="presentation">
          {shown.map((row) => {
            const allocation = pages.get(Math.floor(row / PAGE_ROWS))?.[row % PAGE_ROWS];
            return (
              <div
                key={row}
                class="table-row"
                role="row"
                aria-rowindex={row + 2}
                style={{ gridTemplateColumns: GRID, top: `${rowTop(row, top, HEIGHT, total)}px` }}
              >
                {COLUMNS.map((column) => (
                  <span key={column.title} role="cell" class={column.numeric ? 'numeric' : ''}>
                    {allocation ? (column.cell ?? column.text)(allocation) : '…'}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function HeaderCell({
  column,
  sorting,
  onSort,
}: {
  readonly column: Column;
  readonly sorting: Sorting;
  readonly onSort: (sorting: Sorting) => void;
}) {
  const { sort, title, numeric } = column;
  if (sort === undefined) return <span role="columnheader">{title}</span>;
  const active = sorting.key === sort;
  const direction = sorting.ascending ? 'ascending' : 'descending';
  return (
    <span
      role="columnheader"
      aria-sort={active ? direction : 'none'}
      class={numeric ? 'numeric' : ''}
    >
      <button
        type="button"
        onClick={() => onSort({ key: sort, ascending: active ? !sorting.ascending : false })}
      >
        {title}
        <span aria-hidden="true">{active ? (sorting.ascending ? ' ▲' : ' ▼') : ''}</span>
      </button>
    </span>
  );
}

/** The pages on screen, fetched as they come into sight. */
function usePages(
  run: string,
  fields: QueryFields,
  pages: readonly number[],
): ReadonlyMap<number, readonly Allocation[]> {
  const [, redraw] = useState(0);
  const questions = pages.map(
    (page) =>
      [page, questionOf(ALLOCATIONS, run, { ...fields, offset: page * PAGE_ROWS })] as const,
  );
  const key = JSON.stringify(questions);
  // Key stands for the questions
  useEffect(() => {
    const controller = new AbortController();
    for (const [, question] of questions) {
      client()
        .ask(ALLOCATIONS, question, controller.signal)
        .then(
          () => redraw((count) => count + 1),
          // The first page reports errors; a later one leaves its rows as dots.
          () => undefined,
        );
    }
    return () => controller.abort();
  }, [key]);
  return new Map(
    questions.flatMap(([page, question]) => {
      const answer = client().peek(ALLOCATIONS, question);
      return answer ? [[page, answer.allocations] as const] : [];
    }),
  );
}

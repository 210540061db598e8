/** Which rows of a long list are on screen, and which pages of it to ask for. */

export const ROW_HEIGHT = 28;
export const PAGE_ROWS = 200;
/** Rows drawn above and below the visible ones, so that scrolling shows no gap. */
const OVERSCAN = 12;

export interface RowRange {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/** The rows to draw when the list has been scrolled to `top`. */
export function visibleRows(top: number, height: number, total: number): RowRange {
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
  const end = Math.min(total, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN);
  return { first: Math.min(first, end), end };
}

/** The pages, by their number, that hold a range of rows. */
export function pagesOf({ first, end }: RowRange): number[] {
  const pages: number[] = [];
  for (let page = Math.floor(first / PAGE_ROWS); page * PAGE_ROWS < end; page += 1)
    pages.push(page);
  return pages;
}

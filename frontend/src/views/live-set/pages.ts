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

/** Browsers draw no element higher than some 17 million pixels. */
const MAX_HEIGHT = 15_000_000;

/** How high the element is that is scrolled through, in pixels. */
export function listHeight(total: number): number {
  return Math.min(total * ROW_HEIGHT, MAX_HEIGHT);
}

/**
 * Where in the list of rows, in pixels, the reader is who has scrolled to `top`. Beyond
 * MAX_HEIGHT a pixel of scrolling is more than one of the list.
 */
export function listTop(top: number, height: number, total: number): number {
  const whole = total * ROW_HEIGHT;
  if (whole <= MAX_HEIGHT) return top;
  return (top / (MAX_HEIGHT - height)) * (whole - height);
}

/** Where a row is drawn, in pixels from the top of the element. */
export function rowTop(row: number, top: number, height: number, total: number): number {
  return row * ROW_HEIGHT - listTop(top, height, total) + top;
}

/** The rows to draw when the list has been scrolled to `top`. */
export function visibleRows(top: number, height: number, total: number): RowRange {
  const from = listTop(top, height, total);
  const first = Math.max(0, Math.floor(from / ROW_HEIGHT) - OVERSCAN);
  const end = Math.min(total, Math.ceil((from + height) / ROW_HEIGHT) + OVERSCAN);
  return { first: Math.min(first, end), end };
}

/** The pages, by their number, that hold a range of rows. */
export function pagesOf({ first, end }: RowRange): number[] {
  const pages: number[] = [];
  for (let page = Math.floor(first / PAGE_ROWS); page * PAGE_ROWS < end; page += 1)
    pages.push(page);
  return pages;
}

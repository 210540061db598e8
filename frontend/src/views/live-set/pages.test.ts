import { describe, expect, it } from 'vitest';
import { PAGE_ROWS, pagesOf, ROW_HEIGHT, visibleRows } from './pages';

describe('visibleRows', () => {
  it('covers what is on screen and a little more', () => {
    const rows = visibleRows(100 * ROW_HEIGHT, 10 * ROW_HEIGHT, 10_000);
    expect(rows.first).toBeLessThan(100);
    expect(rows.end).toBeGreaterThan(110);
  });

  it('never leaves the list, even when it has become shorter than the scroll position', () => {
    expect(visibleRows(0, 280, 3)).toEqual({ first: 0, end: 3 });
    expect(visibleRows(1e6, 280, 3)).toEqual({ first: 3, end: 3 });
    expect(visibleRows(0, 280, 0)).toEqual({ first: 0, end: 0 });
  });
});

describe('pagesOf', () => {
  it('names each page that a range touches', () => {
    expect(pagesOf({ first: 0, end: 10 })).toEqual([0]);
    expect(pagesOf({ first: PAGE_ROWS - 1, end: PAGE_ROWS + 1 })).toEqual([0, 1]);
    expect(pagesOf({ first: 0, end: 0 })).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { listHeight, PAGE_ROWS, pagesOf, ROW_HEIGHT, rowTop, visibleRows } from './pages';

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

describe('a list that no browser can draw at its height', () => {
  const TOTAL = 10_000_000;
  const HEIGHT = 420;
  const BOTTOM = listHeight(TOTAL) - HEIGHT;

  it('is of a height that a browser can draw', () => {
    expect(listHeight(TOTAL)).toBeLessThan(17_000_000);
    expect(listHeight(100)).toBe(100 * ROW_HEIGHT);
  });

  it('is scrolled from its first row to its last', () => {
    expect(visibleRows(0, HEIGHT, TOTAL).first).toBe(0);
    expect(visibleRows(BOTTOM, HEIGHT, TOTAL).end).toBe(TOTAL);
    expect(rowTop(TOTAL, BOTTOM, HEIGHT, TOTAL)).toBeCloseTo(BOTTOM + HEIGHT, 3);
  });

  it('shows every row somewhere, inside the frame', () => {
    for (const top of [1, 12_345, BOTTOM / 2, BOTTOM - 1]) {
      const here = visibleRows(top, HEIGHT, TOTAL);
      const next = visibleRows(top + 1, HEIGHT, TOTAL);
      expect(next.first).toBeLessThan(here.end);
      const row = Math.floor((here.first + here.end) / 2);
      expect(rowTop(row, top, HEIGHT, TOTAL)).toBeGreaterThanOrEqual(top - ROW_HEIGHT);
      expect(rowTop(row, top, HEIGHT, TOTAL)).toBeLessThan(top + HEIGHT);
    }
  });
});

describe('pagesOf', () => {
  it('names each page that a range touches', () => {
    expect(pagesOf({ first: 0, end: 10 })).toEqual([0]);
    expect(pagesOf({ first: PAGE_ROWS - 1, end: PAGE_ROWS + 1 })).toEqual([0, 1]);
    expect(pagesOf({ first: 0, end: 0 })).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { clampRange, columnsFor, NARROWEST_NS, panRange, zoomRange } from './window';

const SECOND = 1e9;

describe('columnsFor', () => {
  it('gives at least one column for each pixel that is on screen', () => {
    const asked = columnsFor({ from: 2 * SECOND, to: 3 * SECOND }, 10 * SECOND, 800);
    const width = (asked.to - asked.from) / asked.columns;
    expect(SECOND / width).toBeGreaterThanOrEqual(800);
    expect(Number.isInteger(Math.log2(width))).toBe(true);
  });

  it('covers the part before and after, to be ready for a move', () => {
    const asked = columnsFor({ from: 4 * SECOND, to: 5 * SECOND }, 10 * SECOND, 800);
    expect(asked.from).toBeLessThanOrEqual(3.5 * SECOND);
    expect(asked.to).toBeGreaterThanOrEqual(5.5 * SECOND);
  });

  it('asks the same question again after a small move', () => {
    const pixels = 800;
    const first = columnsFor({ from: 4 * SECOND, to: 5 * SECOND }, 10 * SECOND, pixels);
    const moved = columnsFor({ from: 4 * SECOND + 1e6, to: 5 * SECOND + 1e6 }, 10 * SECOND, pixels);
    expect(moved).toEqual(first);
  });

  it('never asks for time before the recording or more columns than an answer may have', () => {
    const asked = columnsFor({ from: 0, to: 1000 * SECOND }, 1000 * SECOND, 50_000);
    expect(asked.from).toBe(0);
    expect(asked.columns).toBeLessThanOrEqual(8192);
  });

  it('reaches past the last event, which a half-open range would leave out', () => {
    expect(columnsFor({ from: 0, to: 1024 }, 1024, 64).to).toBeGreaterThan(1024);
  });

  it('survives a recording of one event', () => {
    const asked = columnsFor({ from: 0, to: 0 }, 0, 800);
    expect(asked.columns).toBeGreaterThan(0);
    expect(asked.to).toBeGreaterThan(asked.from);
  });
});

describe('zoomRange', () => {
  it('keeps the moment under the pointer where it is', () => {
    const before = { from: 0, to: 8 * SECOND };
    const after = zoomRange(before, 2 * SECOND, 0.5, 8 * SECOND);
    expect(after.to - after.from).toBe(4 * SECOND);
    expect((2 * SECOND - after.from) / (after.to - after.from)).toBeCloseTo(0.25);
  });

  it('stops at single nanoseconds and at the whole recording', () => {
    const narrow = zoomRange({ from: 100, to: 100 + NARROWEST_NS }, 108, 0.01, SECOND);
    expect(narrow.to - narrow.from).toBe(NARROWEST_NS);
    expect(zoomRange({ from: 0, to: SECOND }, 5, 100, SECOND)).toEqual({ from: 0, to: SECOND });
  });
});

describe('panRange and clampRange', () => {
  it('moves by a share of the screen and stops at the ends', () => {
    expect(panRange({ from: 100, to: 200 }, 0.5, 1000)).toEqual({ from: 150, to: 250 });
    expect(panRange({ from: 900, to: 1000 }, 0.5, 1000)).toEqual({ from: 900, to: 1000 });
    expect(clampRange({ from: -50, to: 50 }, 1000)).toEqual({ from: 0, to: 100 });
  });
});

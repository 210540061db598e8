import { describe, expect, it } from 'vitest';
import { dragBrush, gripAt } from './brush';

const BRUSH = { from: 100, to: 200 };

describe('gripAt', () => {
  it('takes an edge, the whole or nothing', () => {
    expect(gripAt(103, BRUSH, 5)).toBe('from');
    expect(gripAt(198, BRUSH, 5)).toBe('to');
    expect(gripAt(150, BRUSH, 5)).toBe('move');
    expect(gripAt(300, BRUSH, 5)).toBe('new');
  });
});

describe('dragBrush', () => {
  it('moves the part and stops at the end', () => {
    expect(dragBrush('move', BRUSH, 150, 170, 1000)).toEqual({ from: 120, to: 220 });
    expect(dragBrush('move', BRUSH, 150, 5000, 1000)).toEqual({ from: 900, to: 1000 });
  });

  it('moves one edge, even across the other', () => {
    expect(dragBrush('to', BRUSH, 200, 260, 1000)).toEqual({ from: 100, to: 260 });
    expect(dragBrush('from', BRUSH, 100, 300, 1000)).toEqual({ from: 200, to: 300 });
  });

  it('draws a new part in either direction', () => {
    expect(dragBrush('new', BRUSH, 500, 300, 1000)).toEqual({ from: 300, to: 500 });
  });
});

import { describe, expect, it } from 'vitest';
import { squarify } from './treemap';

const WITHIN = { x: 10, y: 20, width: 600, height: 400 };

describe('squarify', () => {
  it('gives each value its share of the area, inside the frame', () => {
    const values = [6, 6, 4, 3, 2, 2, 1];
    const boxes = squarify(values, WITHIN);
    boxes.forEach((box, index) => {
      expect((box.width * box.height) / (600 * 400)).toBeCloseTo((values[index] as number) / 24);
      expect(box.x).toBeGreaterThanOrEqual(10 - 1e-9);
      expect(box.x + box.width).toBeLessThanOrEqual(610 + 1e-9);
      expect(box.y + box.height).toBeLessThanOrEqual(420 + 1e-9);
    });
  });

  it('keeps rectangles from becoming slivers', () => {
    const ratios = squarify([6, 6, 4, 3, 2, 2, 1], WITHIN).map(({ width, height }) =>
      Math.max(width / height, height / width),
    );
    expect(Math.max(...ratios)).toBeLessThan(3);
  });

  it('does not divide by nothing', () => {
    expect(squarify([], WITHIN)).toEqual([]);
    expect(squarify([0, 0], WITHIN).map(({ width }) => width)).toEqual([0, 0]);
  });
});

import { describe, expect, it } from 'vitest';
import { sparkPath } from './sparkline';

describe('sparkPath', () => {
  it('rises from zero at the bottom to the largest value at the top', () => {
    expect(sparkPath([0, 5, 10], 100, 20)).toBe('M0.0 20.0L50.0 10.0L100.0 0.0');
  });

  it('draws nothing for nothing and a point for one value', () => {
    expect(sparkPath([], 100, 20)).toBe('');
    expect(sparkPath([3], 100, 20)).toBe('M0.0 0.0');
  });
});

import { describe, expect, it } from 'vitest';
import { findRuns, LISTED } from './findRuns';

const RUNS = Array.from({ length: 10_000 }, (_, number) => `train_${number}/2026_11_20`);

describe('findRuns', () => {
  it('lists the first ones and the chosen one', () => {
    const { listed, found } = findRuns(RUNS, '', 'train_9999/2026_11_20');
    expect(found).toBe(10_000);
    expect(listed).toHaveLength(LISTED);
    expect(listed[0]).toBe('train_0/2026_11_20');
    expect(listed.at(-1)).toBe('train_9999/2026_11_20');
  });

  it('finds all words in any order and case', () => {
    expect(findRuns(RUNS, '2026 TRAIN_1234', 'train_0/2026_11_20').listed).toEqual([
      'train_0/2026_11_20',
      'train_1234/2026_11_20',
    ]);
  });

  it('has nothing of what there is not', () => {
    expect(findRuns(['a'], 'b', '')).toEqual({ listed: [], found: 0 });
  });
});

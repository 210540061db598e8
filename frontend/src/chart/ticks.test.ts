import { describe, expect, it } from 'vitest';
import { byteTicks, timeStep, timeTicks } from './ticks';

const MIB = 2 ** 20;

describe('byteTicks', () => {
  it('stands at powers of two, no more of them than there is room for', () => {
    expect(byteTicks(0, 256 * MIB, 4)).toEqual([0, 64, 128, 192, 256].map((mib) => mib * MIB));
    expect(byteTicks(0, 100, 3)).toEqual([0, 64]);
  });

  it('gives one tick where there is nothing to divide', () => {
    expect(byteTicks(5, 5, 4)).toEqual([5]);
  });
});

describe('timeTicks', () => {
  it('uses round decimals below a second and clock steps above', () => {
    expect(timeStep(3e5)).toBe(5e5);
    expect(timeStep(1e9)).toBe(1e9);
    expect(timeStep(20e9)).toBe(30e9);
    expect(timeStep(200e9)).toBe(300e9);
    expect(timeTicks(0, 1e9, 5)).toEqual([0, 2e8, 4e8, 6e8, 8e8, 1e9]);
  });

  it('goes down to single nanoseconds', () => {
    expect(timeTicks(100, 104, 5)).toEqual([100, 101, 102, 103, 104]);
  });
});

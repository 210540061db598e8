import { describe, expect, it } from 'vitest';
import { formatDuration, formatMoment } from './time';

describe('formatDuration', () => {
  it.each([
    [0n, '0 s'],
    [7n, '7 ns'],
    [1_240_000n, '1.24 ms'],
    [10_000_000_000n, '10.0 s'],
    [90_000_000_000n, '1.50 min'],
    [7_200_000_000_000n, '2.00 h'],
  ])('%s ns are %s', (ns, text) => expect(formatDuration(ns)).toBe(text));
});

describe('formatMoment', () => {
  it('shows as many digits as tell neighbours apart', () => {
    expect(formatMoment(3_214_000_000, 1e9)).toBe('3 s');
    expect(formatMoment(3_214_000_000, 1e6)).toBe('3.214 s');
    expect(formatMoment(3_214_000_017, 1)).toBe('3.214000017 s');
  });

  it('reads like a clock above a minute', () => {
    expect(formatMoment(75e9, 1e9)).toBe('1:15 min');
    expect(formatMoment(61.5e9, 1e8)).toBe('1:01.5 min');
    expect(formatMoment(3_725e9, 1e9)).toBe('1:02:05 h');
  });
});

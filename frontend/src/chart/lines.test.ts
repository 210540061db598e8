import { expect, test } from 'vitest';
import { highest, lineArrays } from './lines';

const COLUMNS = [
  { timeNs: 110n, tensors: 100n, other: 50n, used: 4000n },
  { timeNs: 120n, tensors: 300n, other: 60n, used: 4900n },
];
const colour = '';

test('lines keep their values, and stacked areas stand on those that come later', () => {
  const arrays = lineArrays(
    COLUMNS,
    [
      { label: 'other', colour, stacked: true, value: ({ other }) => other },
      { label: 'tensors', colour, stacked: true, value: ({ tensors }) => tensors },
      { label: 'used', colour, value: ({ used }) => used },
    ],
    100n,
  );
  expect(arrays.map((line) => [...line])).toEqual([
    [10, 20],
    [150, 360],
    [100, 300],
    [4000, 4900],
  ]);
  expect(highest(arrays)).toBe(4900);
});

test('an empty answer has no heights', () => {
  expect(lineArrays([], [{ label: 'a', colour, value: () => 1 }], 0n)).toEqual([
    new Float64Array(),
    new Float64Array(),
  ]);
});

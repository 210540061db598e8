import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { HostMemorySeriesSchema } from '../../generated/datasets_pb';
import { PART_NAMES, stackOf } from './model';

const series = create(HostMemorySeriesSchema, {
  parts: ['tensors', 'pools', 'unexplained'],
  limitBytes: 5000n,
  columns: [
    { timeNs: 110n, usedBytes: 4000n, partBytes: [100n, 0n, 50n] },
    { timeNs: 120n, usedBytes: 4900n, partBytes: [300n, 0n, 60n] },
  ],
});

test('parts stand on each other, the empty ones left out, the whole first', () => {
  const { parts, arrays, top } = stackOf(series, 100n);
  expect(parts).toEqual([0, 2]);
  expect(arrays.map((line) => [...line])).toEqual([
    [10, 20],
    [150, 360],
    [100, 300],
    [4000, 4900],
  ]);
  expect(top).toBeCloseTo(5300);
});

test('each part that the converter names has words', () => {
  for (const part of series.parts) expect(PART_NAMES[part]).toBeTruthy();
});

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { paletteOf } from '../../chart/palette';
import { HostMemorySeriesSchema } from '../../generated/datasets_pb';
import { linesOf, PART_NAMES } from './HostMemory';

const series = create(HostMemorySeriesSchema, {
  parts: ['tensors', 'pools', 'unexplained'],
  limitBytes: 5000n,
  columns: [
    { timeNs: 110n, usedBytes: 4000n, partBytes: [100n, 0n, 50n] },
    { timeNs: 120n, usedBytes: 4900n, partBytes: [300n, 0n, 60n] },
  ],
});

test('parts stand on each other, the empty ones left out, beside what is used and the limit', () => {
  const lines = linesOf(series, paletteOf('light'));
  expect(lines.map(({ label, stacked = false }) => [label, stacked])).toEqual([
    [PART_NAMES.unexplained, true],
    [PART_NAMES.tensors, true],
    ['used, against the limit', false],
    ['limit', false],
  ]);
  const [first] = series.columns;
  expect(first && lines.map(({ value }) => value(first))).toEqual([50n, 100n, 4000n, 5000n]);
});

test('each part that the converter names has words', () => {
  for (const part of series.parts) expect(PART_NAMES[part]).toBeTruthy();
});

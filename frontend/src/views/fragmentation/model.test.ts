import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { BinSchema, FragmentationSeriesSchema } from '../../generated/datasets_pb';
import { binHolds, requestOf, usedBins } from './model';

const bin = (index: number, freeBytes: bigint, usedBytes: bigint) =>
  create(BinSchema, { index, minBytes: 256n << BigInt(index), freeBytes, usedBytes });

const POOL = [
  bin(0, 0n, 0n),
  bin(1, 512n, 0n),
  bin(2, 0n, 0n),
  bin(3, 0n, 4096n),
  bin(4, 0n, 0n),
  bin(5, 0n, 0n),
  bin(6, 0n, 0n),
];

describe('usedBins', () => {
  it('keeps the bins between the smallest and the largest that hold something', () => {
    const { bins, most } = usedBins(POOL, 0n);
    expect(bins.map(({ index }) => index)).toEqual([1, 2, 3]);
    expect(most).toBe(4096);
  });

  it('keeps the bin of the request, where nothing of its size is left', () => {
    const { bins } = usedBins(POOL, 256n << 5n);
    expect(bins.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5]);
  });

  it('is empty for an empty pool', () => {
    expect(usedBins([], 0n).bins).toEqual([]);
  });
});

describe('binHolds', () => {
  it('finds the bin of a request, the last one being open', () => {
    expect(binHolds(bin(1, 0n, 0n), bin(2, 0n, 0n), 1000n)).toBe(true);
    expect(binHolds(bin(2, 0n, 0n), bin(3, 0n, 0n), 1000n)).toBe(false);
    expect(binHolds(bin(3, 0n, 0n), undefined, 1_000_000n)).toBe(true);
  });
});

describe('requestOf', () => {
  it('is that of the first column which measured anything', () => {
    const { columns } = create(FragmentationSeriesSchema, {
      columns: [{ timeNs: 1000n }, { timeNs: 1010n, worst: { unusableFreeRequestBytes: 64n } }],
    });
    expect(requestOf(columns)).toBe(64n);
    expect(requestOf([])).toBe(0n);
  });
});

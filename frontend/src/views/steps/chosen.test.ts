import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CompareSchema } from '../../generated/datasets_pb';
import { defaultSteps, parseSteps, siteRows } from './chosen';

const upTo = (last: number) => Array.from({ length: last + 1 }, (_, step) => BigInt(step));

describe('the steps that stand side by side', () => {
  it('are an early, a settled and a late one until the reader chooses', () => {
    expect(defaultSteps(upTo(110))).toEqual([1n, 10n, 100n, 110n]);
    expect(defaultSteps([5n, 6n, 7n])).toEqual([5n, 7n]);
    expect(defaultSteps([])).toEqual([]);
  });

  it('are read from what a person types, as far as they exist', () => {
    expect(parseSteps('100, 1 10;9999', upTo(110))).toEqual([1n, 10n, 100n]);
    expect(parseSteps('1', upTo(110))).toBeUndefined();
  });
});

describe('siteRows', () => {
  const compare = (rows: readonly (readonly [string, bigint, bigint])[]) =>
    create(CompareSchema, {
      rows: rows.map(([key, beforeBytes, afterBytes]) => ({ key, beforeBytes, afterBytes })),
    });

  it('puts every site into one row, what changed most first', () => {
    const rows = siteRows([
      compare([
        ['grows', 10n, 20n],
        ['stays', 50n, 50n],
      ]),
      compare([
        ['grows', 10n, 90n],
        ['stays', 50n, 50n],
        ['new', 0n, 7n],
      ]),
    ]);
    expect(rows.map(({ key }) => key)).toEqual(['grows', 'new', 'stays']);
    expect(rows[0]).toEqual({ key: 'grows', bytes: [10n, 20n, 90n], grewBytes: 80n });
    expect(rows[1]?.bytes).toEqual([0n, 0n, 7n]);
  });
});

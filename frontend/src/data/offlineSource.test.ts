import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { AllocationsSchema, FragmentationSchema, SortKey } from '../generated/datasets_pb';
import { questionOf } from './client';
import { OfflineSource } from './offlineSource';
import { ALLOCATIONS, FRAGMENTATION, LEAKS } from './query';

const filter = { host: 'h', allocator: 'a#0' };
const atPeak = { at: { case: 'peak', value: true } } as const;

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

const SOURCE = new OfflineSource({
  version: 1,
  run: 'train/1',
  answers: [
    {
      question: { dataset: 'ALLOCATIONS', filter, at: { peak: true } },
      body: base64(
        toBinary(
          AllocationsSchema,
          create(AllocationsSchema, {
            totalCount: 3n,
            allocations: [
              { id: 1n, allocatedBytes: 512n, opName: 'b' },
              { id: 2n, allocatedBytes: 1024n, opName: 'c' },
              { id: 3n, allocatedBytes: 256n, opName: 'a' },
            ],
          }),
        ),
      ),
    },
    {
      question: { dataset: 'FRAGMENTATION', filter, at: { peak: true } },
      body: base64(
        toBinary(FragmentationSchema, create(FragmentationSchema, { series: [{ host: 'h' }] })),
      ),
    },
  ],
});

const rows = async (fields: Parameters<typeof questionOf>[2]) => {
  const body = await SOURCE.ask(
    questionOf(ALLOCATIONS, 'train/1', { filter, at: atPeak, ...fields }),
  );
  return fromBinary(AllocationsSchema, body).allocations.map(({ id }) => id);
};

describe('OfflineSource', () => {
  it('sorts and pages the rows that are stored', async () => {
    expect(await rows({})).toEqual([2n, 1n, 3n]);
    expect(await rows({ sort: SortKey.SORT_OP, ascending: true })).toEqual([3n, 1n, 2n]);
    expect(await rows({ offset: 1, limit: 1 })).toEqual([1n]);
  });

  it('takes the series over time from any stored moment', async () => {
    const at = { at: { case: 'event', value: -1n } } as const;
    const body = await SOURCE.ask(
      questionOf(FRAGMENTATION, 'train/1', { filter, at, columns: 800 }),
    );
    expect(fromBinary(FragmentationSchema, body).series[0]?.host).toBe('h');
  });

  it('says what it holds when another moment is asked', async () => {
    const at = { at: { case: 'timeNs', value: 5n } } as const;
    await expect(SOURCE.ask(questionOf(ALLOCATIONS, 'train/1', { filter, at }))).rejects.toThrow(
      /not in the page/,
    );
  });

  it('leaves out views whose dataset is not stored', async () => {
    await expect(SOURCE.ask(questionOf(LEAKS, 'train/1', { filter }))).rejects.toMatchObject({
      unimplemented: true,
    });
  });

  it('does not read data of another version', () => {
    expect(() => new OfflineSource({ version: 2, run: '', answers: [] })).toThrow(/version 2/);
  });
});

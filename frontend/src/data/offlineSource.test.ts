// @vitest-environment node
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  AllocationsSchema,
  FragmentationSchema,
  GroupBy,
  Role,
  SortKey,
} from '../generated/datasets_pb';
import { questionOf } from './client';
import { OfflineSource } from './offlineSource';
import { ALLOCATIONS, FRAGMENTATION, LEAKS } from './query';

const filter = { host: 'h', allocator: 'a#0' };
const atPeak = { at: { case: 'peak', value: true } } as const;

/** As the converter packs an answer. */
async function packed(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  const zipped = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(String.fromCharCode(...zipped));
}

const SOURCE = new OfflineSource({
  version: 2,
  run: 'train/1',
  moments: [
    { host: 'h', allocator: 'a#0', at: { peak: true }, timeNs: '900' },
    { host: 'other', allocator: 'a#0', at: { step: '3' }, timeNs: '300' },
  ],
  answers: [
    {
      question: { dataset: 'ALLOCATIONS', filter, at: { peak: true } },
      body: await packed(
        toBinary(
          AllocationsSchema,
          create(AllocationsSchema, {
            totalCount: 4n,
            allocations: [
              { id: 1n, allocatedBytes: 512n, opName: 'model/b/MatMul', scope: 'model/b' },
              {
                id: 2n,
                allocatedBytes: 1024n,
                opName: 'model/c/Relu',
                scope: 'model/c',
                dtype: 'float32',
                shape: [8n, 16n],
                hasShape: true,
                role: Role.ACTIVATION,
              },
              { id: 3n, allocatedBytes: 256n, opName: 'a', address: 0x1000n },
            ],
          }),
        ),
      ),
    },
    {
      question: { dataset: 'FRAGMENTATION', filter },
      body: await packed(
        toBinary(FragmentationSchema, create(FragmentationSchema, { series: [{ host: 'h' }] })),
      ),
    },
  ],
});

const ask = async (fields: Parameters<typeof questionOf>[2]) => {
  const body = await SOURCE.ask(
    questionOf(ALLOCATIONS, 'train/1', { filter, at: atPeak, ...fields }),
  );
  return fromBinary(AllocationsSchema, body);
};
const rows = async (fields: Parameters<typeof questionOf>[2]) =>
  (await ask(fields)).allocations.map(({ id }) => id);

describe('OfflineSource', () => {
  it('sorts and pages the rows that are stored', async () => {
    expect(await rows({})).toEqual([2n, 1n, 3n]);
    expect(await rows({ sort: SortKey.SORT_OP, ascending: true })).toEqual([3n, 1n, 2n]);
    expect(await rows({ offset: 1, limit: 1 })).toEqual([1n]);
  });

  it.each([
    [{ search: 'RELU' }, [2n]],
    [{ search: '[8,16]' }, [2n]],
    [{ search: '0x10ff' }, [3n]],
    [{ search: '0x1100' }, []],
    [{ minBytes: 512n }, [2n, 1n]],
    [{ scope: 'model' }, [2n, 1n]],
    [{ scope: 'mod' }, []],
    [{ dtype: 'float32' }, [2n]],
    [{ role: Role.ACTIVATION }, [2n]],
  ])('keeps the rows that fit %o', async (fields, ids) => {
    expect(await rows({ filter: { ...filter, ...fields } })).toEqual(ids);
  });

  it('counts what fits the filter, and says that it searched only what is stored', async () => {
    const answer = await ask({ filter: { ...filter, scope: 'model' }, limit: 1 });
    expect(answer.totalCount).toBe(2n);
    expect(answer.totalAllocatedBytes).toBe(1536n);
    expect(answer.quality[0]?.sentence).toMatch(/the 3 largest of 4 allocations/);
  });

  it('has no sums of what fits a filter, and says so', async () => {
    const sums = ask({ filter: { ...filter, search: 'x' }, groupBy: GroupBy.GROUP_OP });
    await expect(sums).rejects.toThrow(/no sums of what fits a filter/);
  });

  it('takes the series over time from wherever it is stored', async () => {
    const at = { at: { case: 'event', value: -1n } } as const;
    const body = await SOURCE.ask(
      questionOf(FRAGMENTATION, 'train/1', { filter, at, columns: 800 }),
    );
    expect(fromBinary(FragmentationSchema, body).series[0]?.host).toBe('h');
  });

  it('says so when a moment is asked that it does not hold', async () => {
    const at = { at: { case: 'timeNs', value: 5n } } as const;
    await expect(ask({ at })).rejects.toThrow(/not in the saved page/);
  });

  it('knows which moments of an allocator it holds', () => {
    expect(SOURCE.storedMoments('h', 'a#0')).toEqual([{ at: { peak: true }, timeNs: 900n }]);
  });

  it('leaves out views whose dataset is not stored', async () => {
    await expect(SOURCE.ask(questionOf(LEAKS, 'train/1', { filter }))).rejects.toMatchObject({
      unimplemented: true,
    });
  });

  it('does not read data of another version', () => {
    expect(() => new OfflineSource({ version: 1, run: '', moments: [], answers: [] })).toThrow(
      /version 1/,
    );
  });
});

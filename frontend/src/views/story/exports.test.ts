import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { OomSchema } from '../../generated/datasets_pb';
import { oomText } from './exports';

const MIB = 1n << 20n;

describe('oomText', () => {
  it('tells the whole story in lines that can be pasted into a ticket', () => {
    const text = oomText(
      create(OomSchema, {
        request: {
          opName: 'dense/MatMul',
          requestedBytes: 4n * MIB,
          dtype: 'float32',
          shape: [1024n, 1024n],
          hasShape: true,
          step: 7n,
        },
        hasLayout: true,
        inUseBytes: 200n * MIB,
        freeBytes: 10n * MIB,
        largestFreeBytes: 2n * MIB,
        limitBytes: 256n * MIB,
        verdict: { sentence: 'The free memory lay in pieces.' },
        remedies: [
          { title: 'Train with smaller batches', bytes: 32n * MIB, code: 'batch_size = 16' },
        ],
      }),
      '/device:GPU:0',
    );
    expect(text.split('\n')).toEqual([
      'The free memory lay in pieces.',
      'dense/MatMul asked for 4.00 MiB for a float32 [1024, 1024] tensor on /device:GPU:0 in step 7.',
      'In use 200.0 MiB, free in the pool 10.0 MiB, largest hole 2.00 MiB, the pool may still grow by 0 B, limit 256.0 MiB',
      'What to change:',
      '1. Train with smaller batches (gives back 32.0 MiB)',
      '   batch_size = 16',
    ]);
  });
});

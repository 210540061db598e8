import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { OomSchema } from '../../generated/datasets_pb';
import { oomText } from './exports';

const MIB = 1n << 20n;

describe('oomText', () => {
  it('tells the whole story in lines that can be pasted into a ticket', () => {
    const text = oomText(
      create(OomSchema, {
        opening: { whatHappened: 'dense/MatMul asked GPU_0_bfc for 4.00 MiB.', remedies: 1 },
        hasLayout: true,
        inUseBytes: 200n * MIB,
        freeBytes: 10n * MIB,
        largestFreeBytes: 2n * MIB,
        limitBytes: 256n * MIB,
        verdict: { sentence: 'The free memory lay in pieces.' },
        remedies: [
          {
            title: 'Train with smaller batches',
            bytes: 32n * MIB,
            code: 'batch_size = 16',
            howSure: 'enough alone',
          },
        ],
      }),
    );
    expect(text.split('\n')).toEqual([
      'dense/MatMul asked GPU_0_bfc for 4.00 MiB.',
      'The free memory lay in pieces.',
      'In use 200.0 MiB, free in the pool 10.0 MiB, largest hole 2.00 MiB, the pool may still grow by 0 B, limit 256.0 MiB',
      'What to change:',
      '1. Train with smaller batches (gives back 32.0 MiB) [enough alone]',
      '   batch_size = 16',
    ]);
  });
});

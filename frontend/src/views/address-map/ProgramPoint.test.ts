import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { AddressMapSchema } from '../../generated/datasets_pb';
import { largestBlock } from './ProgramPoint';

const BLOCK = 0x7f00_0000_1000n;
const RESULT = 0x7f00_0000_9000n;

/** A block with so many parts, a larger result of the same module, and an eager tensor. */
function mapWith(parts: number) {
  const compiled = { module: 'step__.7', programPoints: 20 };
  return create(AddressMapSchema, {
    chunks: [
      { address: BLOCK, sizeBytes: 4096n, allocation: { compiled }, parts: Array(parts).fill({}) },
      { address: RESULT, sizeBytes: 8192n, allocation: { compiled }, parts: [{}] },
      { address: 0x7f00_0001_0000n, sizeBytes: 65536n, allocation: {} },
    ],
  });
}

describe('largestBlock', () => {
  it('is one that has an inside to look at', () => {
    expect(largestBlock(mapWith(3), undefined)?.address).toBe(BLOCK);
    expect(largestBlock(mapWith(1), undefined)).toBeUndefined();
  });

  it('stays the chosen one where nothing lies in it', () => {
    const chosen = { module: 'step__.7', programPoint: 0, address: BLOCK };
    expect(largestBlock(mapWith(1), chosen)?.address).toBe(BLOCK);
  });
});

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ChunkSchema } from '../../generated/datasets_pb';
import { addressAt, chunkAt, largestHole, layOut, stripsOf } from './layout';

const BASE = 0x7f00_0000_0000n;

describe('layOut', () => {
  it('gives every row the same bytes and begins a new row at each region', () => {
    const layout = layOut(
      [
        { from: BASE, to: BASE + 1024n },
        { from: BASE + 4096n, to: BASE + 4096n + 1536n },
      ],
      5,
    );
    expect(layout.bytesPerRow).toBe(512n);
    expect(layout.rows.map(({ region }) => region)).toEqual([0, 0, 1, 1, 1]);
    expect(layout.rows[4]).toEqual({ region: 1, from: BASE + 5120n, to: BASE + 5632n });
  });

  it('is empty for a pool that has reserved nothing', () => {
    expect(layOut([], 10).rows).toEqual([]);
  });
});

describe('stripsOf and addressAt', () => {
  const layout = layOut([{ from: BASE, to: BASE + 2048n }], 4);

  it('wraps a range that is longer than a row', () => {
    expect(stripsOf({ from: BASE + 256n, to: BASE + 1152n }, layout)).toEqual([
      { row: 0, left: 0.5, right: 1 },
      { row: 1, left: 0, right: 1 },
      { row: 2, left: 0, right: 0.25 },
    ]);
  });

  it('is the inverse of addressAt', () => {
    expect(addressAt(2, 0.25, layout)).toBe(BASE + 1024n + 128n);
    expect(addressAt(9, 0, layout)).toBeUndefined();
  });

  it('does not draw what lies outside', () => {
    expect(stripsOf({ from: BASE + 2048n, to: BASE + 4096n }, layout)).toEqual([]);
  });
});

describe('chunkAt and largestHole', () => {
  const chunks = [
    create(ChunkSchema, { address: BASE, sizeBytes: 256n }),
    create(ChunkSchema, { address: BASE + 256n, sizeBytes: 512n, free: true }),
    create(ChunkSchema, { address: BASE + 768n, sizeBytes: 256n }),
    create(ChunkSchema, { address: BASE + 4096n, sizeBytes: 256n, free: true }),
  ];

  it('finds the chunk that holds a byte, and none in the space between regions', () => {
    expect(chunkAt(chunks, BASE + 300n)).toBe(chunks[1]);
    expect(chunkAt(chunks, BASE + 255n)).toBe(chunks[0]);
    expect(chunkAt(chunks, BASE + 2000n)).toBeUndefined();
    expect(chunkAt(chunks, BASE - 1n)).toBeUndefined();
  });

  it('finds the hole that a request would have had to fit into', () => {
    expect(largestHole(chunks)).toBe(chunks[1]);
  });
});

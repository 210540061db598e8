import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { AddressHistorySchema, HistoryRectangleSchema } from '../../generated/datasets_pb';
import { addressOf, bandsOf, boxOf, heightOf } from './geometry';

const BANDS = bandsOf(
  create(AddressHistorySchema, {
    regions: [
      { address: 0x1000n, sizeBytes: 100n },
      { address: 0x9000n, sizeBytes: 300n },
    ],
  }),
);

describe('bandsOf', () => {
  it('leaves out the empty space between regions', () => {
    expect(BANDS.total).toBe(400);
    expect(heightOf(0x1000n, BANDS)).toBe(0);
    expect(heightOf(0x9000n, BANDS)).toBe(100);
    expect(heightOf(0x5000n, BANDS)).toBeUndefined();
  });

  it('finds the address at a height again', () => {
    for (const address of [0x1000n, 0x1063n, 0x9000n, 0x912bn]) {
      const height = heightOf(address, BANDS);
      expect(height !== undefined && addressOf(height, BANDS)).toBe(address);
    }
    expect(addressOf(400, BANDS)).toBeUndefined();
  });
});

describe('boxOf', () => {
  const visible = { from: 100, to: 200 };
  const size = { width: 1000, height: 400 };
  const rectangle = (bornNs: bigint, diedNs: bigint) =>
    create(HistoryRectangleSchema, { address: 0x9000n, sizeBytes: 50n, bornNs, diedNs });

  it('places time to the right and addresses upwards', () => {
    expect(boxOf(rectangle(1110n, 1120n), BANDS, 1000n, visible, size)).toEqual({
      x: 100,
      y: 250,
      width: 100,
      height: 50,
    });
  });

  it('draws what is still live up to the right edge', () => {
    const box = boxOf(rectangle(1150n, 0n), BANDS, 1000n, visible, size);
    expect(box && box.x + box.width).toBe(1000);
  });

  it('leaves out what was gone before and what comes after', () => {
    expect(boxOf(rectangle(1010n, 1020n), BANDS, 1000n, visible, size)).toBeUndefined();
    expect(boxOf(rectangle(1900n, 0n), BANDS, 1000n, visible, size)).toBeUndefined();
  });
});

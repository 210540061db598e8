import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { OomSchema } from '../../generated/datasets_pb';
import { fitBars } from './fit';

describe('fitBars', () => {
  it('draws request, largest hole and all free memory on one scale', () => {
    const { bars, full } = fitBars(
      create(OomSchema, {
        request: { requestedBytes: 60n, roundedBytes: 64n },
        freeBytes: 90n,
        largestFreeBytes: 21n,
        growableBytes: 10n,
      }),
    );
    expect(bars.map(({ bytes }) => bytes)).toEqual([64, 21, 100]);
    expect(bars[2]?.parts.map(({ bytes }) => bytes)).toEqual([21, 69, 10]);
    expect(full).toBe(100);
  });

  it('can be drawn when nothing is known', () => {
    expect(fitBars(create(OomSchema, {})).full).toBe(1);
  });
});

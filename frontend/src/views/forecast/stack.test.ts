import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { StepForecastSchema } from '../../generated/datasets_pb';
import { ceilingOf, stackOf } from './stack';

const forecast = create(StepForecastSchema, {
  limitBytes: 300n,
  liveBytes: 100n,
  layers: ['dense', '(all others)'],
  columns: [
    { inUseBytes: 150n, layerBytes: [50n, 0n] },
    { inUseBytes: 200n, layerBytes: [70n, 30n] },
  ],
});

describe('the picture of a forecast step', () => {
  it('has room for the limit where that is near the peak', () => {
    expect(ceilingOf(forecast)).toBeCloseTo(312);
    expect(ceilingOf({ ...forecast, limitBytes: 5000n })).toBeCloseTo(208);
  });

  it('stacks what was live before, then the layers, without gaps', () => {
    const parts = stackOf(forecast, 100, 312);
    const second = parts.filter(({ column }) => column === 1);
    expect(second.map(({ layer }) => layer)).toEqual([-1, 0, 1]);
    expect(second.map(({ height }) => Math.round(height))).toEqual([100, 70, 30]);
    expect(Math.round(second[2]?.y ?? 0)).toBe(112);
    expect(second.every(({ x, width }) => x === 50 && width === 50)).toBe(true);
  });
});

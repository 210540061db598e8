import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { StepUseSchema } from '../../generated/datasets_pb';
import { stepBars } from './bars';

const step = (peak: number, end: number) =>
  create(StepUseSchema, { peak: { inUseBytes: BigInt(peak) }, endInUseBytes: BigInt(end) });

describe('stepBars', () => {
  it('scales all steps by the highest peak', () => {
    const bars = stepBars([step(50, 10), step(100, 20)], 200, 104);
    expect(bars.map(({ peak }) => peak)).toEqual([50, 100]);
    expect(bars[1]?.x).toBe(100);
  });

  it('never hides a peak when there are more steps than pixels', () => {
    const steps = Array.from({ length: 1000 }, (_, index) => step(index === 777 ? 100 : 1, 0));
    const bars = stepBars(steps, 100, 104);
    expect(bars).toHaveLength(100);
    expect(Math.max(...bars.map(({ peak }) => peak))).toBe(100);
  });

  it('draws nothing for no steps', () => {
    expect(stepBars([], 100, 100)).toEqual([]);
  });
});

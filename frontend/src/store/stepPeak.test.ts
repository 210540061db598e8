import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { StepUseSchema } from '../generated/datasets_pb';
import { highestPeak } from './stepPeak';

const use = (step: bigint, inUseBytes: bigint, timeNs: bigint) =>
  create(StepUseSchema, { step: { step }, peak: { inUseBytes, timeNs } });

describe('highestPeak', () => {
  it('is the highest of the steps of one number', () => {
    const steps = [use(1n, 50n, 10n), use(2n, 90n, 20n), use(1n, 70n, 30n), use(1n, 60n, 40n)];
    expect(highestPeak(steps, 1n)?.timeNs).toBe(30n);
  });

  it('is nothing where there is no such step', () => {
    expect(highestPeak([use(1n, 50n, 10n)], 2n)).toBeUndefined();
  });
});

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { WhatIfLimitSchema } from '../../generated/datasets_pb';
import { AS_RECORDED, LIMIT_STEPS, limitAt, limitRange, stepOf, toQuery } from './settings';

const MIB = 1n << 20n;

test('what is left as recorded is not asked for', () => {
  expect(toQuery(AS_RECORDED)).toEqual({ allocatorKind: 'bfc' });
  expect(toQuery({ ...AS_RECORDED, growth: 'no', limitBytes: 5n, batchPercent: 50 })).toEqual({
    allocatorKind: 'bfc',
    growth: false,
    limitBytes: 5n,
    batchScale: 0.5,
  });
});

test('scopes are left out, or of another type', () => {
  const settings = {
    ...AS_RECORDED,
    without: ' encoder/block_1,, head ',
    dtype: 'float16',
    dtypeScope: 'decoder',
  };
  expect(toQuery(settings)).toEqual({
    allocatorKind: 'bfc',
    withoutScope: ['encoder/block_1', 'head'],
    dtype: [{ scope: 'decoder', dtype: 'float16' }],
  });
  expect(toQuery({ ...AS_RECORDED, dtypeScope: 'decoder' })).toEqual({ allocatorKind: 'bfc' });
});

test('the slider reaches from an eighth to four times the limit, and the limit itself exactly', () => {
  const limit = 1000n * MIB + 7n;
  expect(limitAt(96, limit)).toBe(limit);
  expect(limitAt(0, limit)).toBe(125n * MIB);
  expect(limitAt(LIMIT_STEPS, limit)).toBe(4000n * MIB);
  for (const step of [0, 10, 96, 130, LIMIT_STEPS]) {
    expect(stepOf(limitAt(step, limit), limit)).toBe(step);
  }
});

test('the picture of limits has room for all of them', () => {
  const tried = [64n, 100n].map((mib) => create(WhatIfLimitSchema, { limitBytes: mib * MIB }));
  const { from, to } = limitRange(tried, 32n * MIB, 0n);
  expect(from).toBeLessThan(Number(32n * MIB));
  expect(to).toBeGreaterThan(Number(100n * MIB));
});

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { type AllocationGroup, AllocationGroupSchema } from '../../generated/datasets_pb';
import { flameBoxes, groupAt } from './calls';

function group(key: string, bytes: bigint, children: AllocationGroup[] = []): AllocationGroup {
  return create(AllocationGroupSchema, { key, allocatedBytes: bytes, children });
}

const CALLS = [
  group('main', 60n, [group('augment', 15n), group('step', 45n, [group('loss', 45n)])]),
  group('worker', 40n),
];

describe('flameBoxes', () => {
  it('makes a call as wide as its bytes, and puts what it called below it', () => {
    const boxes = flameBoxes(CALLS, 100);
    expect(boxes.map(({ path, depth, x, width }) => [path, depth, x, width])).toEqual([
      ['main', 0, 0, 60],
      ['main/step', 1, 0, 45],
      ['main/step/loss', 2, 0, 45],
      ['main/augment', 1, 45, 15],
      ['worker', 0, 60, 40],
    ]);
  });

  it('leaves out what is too narrow to be seen', () => {
    expect(flameBoxes([group('much', 1000n), group('little', 1n)], 100)).toHaveLength(1);
    expect(flameBoxes([], 100)).toEqual([]);
  });
});

describe('groupAt', () => {
  it('finds a call by its path', () => {
    expect(groupAt(CALLS, 'main/step/loss')?.allocatedBytes).toBe(45n);
    expect(groupAt(CALLS, 'main/nothing')).toBeUndefined();
  });
});

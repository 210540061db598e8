import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { AllocationGroupSchema } from '../../generated/datasets_pb';
import { boxAt, treeBoxes, treeRows } from './tree';

const GROUPS = [
  create(AllocationGroupSchema, {
    key: 'sequential',
    allocatedBytes: 300n,
    children: [
      { key: 'dense', allocatedBytes: 200n },
      { key: 'dense_1', allocatedBytes: 100n },
    ],
  }),
  create(AllocationGroupSchema, { key: 'Adam', allocatedBytes: 100n }),
];

describe('treeRows', () => {
  it('shows the children of what is open, with their whole path', () => {
    expect(treeRows(GROUPS, new Set()).map(({ path }) => path)).toEqual(['sequential', 'Adam']);
    expect(treeRows(GROUPS, new Set(['sequential'])).map(({ path }) => path)).toEqual([
      'sequential',
      'sequential/dense',
      'sequential/dense_1',
      'Adam',
    ]);
  });
});

describe('treeBoxes', () => {
  const boxes = treeBoxes(GROUPS, { x: 0, y: 0, width: 800, height: 400 });

  it('puts children inside their parent', () => {
    const parent = boxes.find(({ path }) => path === 'sequential');
    const child = boxes.find(({ path }) => path === 'sequential/dense');
    if (!parent || !child) throw new Error('boxes are missing');
    expect(child.x).toBeGreaterThanOrEqual(parent.x);
    expect(child.x + child.width).toBeLessThanOrEqual(parent.x + parent.width);
    expect(child.y + child.height).toBeLessThanOrEqual(parent.y + parent.height);
  });

  it('finds the innermost box under the pointer', () => {
    const child = boxes.find(({ path }) => path === 'sequential/dense');
    if (!child) throw new Error('box is missing');
    expect(boxAt(boxes, child.x + 1, child.y + 1)?.path).toBe('sequential/dense');
    expect(boxAt(boxes, -5, 0)).toBeUndefined();
  });

  it('leaves out what is too small to be seen', () => {
    const tiny = create(AllocationGroupSchema, { key: 'tiny', allocatedBytes: 1n });
    const huge = create(AllocationGroupSchema, { key: 'huge', allocatedBytes: 1n << 40n });
    const paths = treeBoxes([tiny, huge], { x: 0, y: 0, width: 100, height: 100 }).map(
      ({ path }) => path,
    );
    expect(paths).toEqual(['huge']);
  });
});

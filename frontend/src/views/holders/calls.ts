/** A tree of calls as boxes: a caller lies above what it called, as wide as the bytes. */
import type { AllocationGroup } from '../../generated/datasets_pb';
import { joinPath, type TreeBox } from './tree';

export const ROW_HEIGHT = 22;
/** Narrower boxes are seen by nobody. */
const SMALLEST_WIDTH = 0.5;

/** The boxes of all that is as wide as half a pixel, the largest call of each level first. */
export function flameBoxes(groups: readonly AllocationGroup[], width: number): TreeBox[] {
  const boxes: TreeBox[] = [];
  const total = groups.reduce((sum, { allocatedBytes }) => sum + Number(allocatedBytes), 0);
  const scale = total > 0 ? width / total : 0;
  const place = (
    level: readonly AllocationGroup[],
    parent: string,
    depth: number,
    from: number,
  ) => {
    let x = from;
    for (const group of level.toSorted((a, b) => Number(b.allocatedBytes - a.allocatedBytes))) {
      const own = Number(group.allocatedBytes) * scale;
      if (own < SMALLEST_WIDTH) return;
      const path = joinPath(parent, group.key);
      const y = depth * ROW_HEIGHT;
      boxes.push({ group, path, depth, x, y, width: own, height: ROW_HEIGHT, divided: false });
      place(group.children, path, depth + 1, x);
      x += own;
    }
  };
  place(groups, '', 0, 0);
  return boxes;
}

/** The groups below a path, and the group itself; undefined where there is none. */
export function groupAt(
  groups: readonly AllocationGroup[],
  path: string,
  parent = '',
): AllocationGroup | undefined {
  for (const group of groups) {
    const own = joinPath(parent, group.key);
    if (own === path) return group;
    if (path.startsWith(`${own}/`)) {
      const found = groupAt(group.children, path, own);
      if (found) return found;
    }
  }
  return undefined;
}

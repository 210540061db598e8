/** The groups of the live set as rows of an opened tree, and as boxes of a treemap. */
import { type Rectangle, squarify } from '../../chart/treemap';
import type { AllocationGroup } from '../../generated/datasets_pb';

export interface TreeRow {
  readonly group: AllocationGroup;
  readonly path: string;
  readonly depth: number;
  readonly open: boolean;
}

/** The rows that are to be seen when the groups of `open` (by path) are opened. */
export function treeRows(
  groups: readonly AllocationGroup[],
  open: ReadonlySet<string>,
  parent = '',
  depth = 0,
): TreeRow[] {
  return groups.flatMap((group) => {
    const path = joinPath(parent, group.key);
    const isOpen = open.has(path);
    const row = { group, path, depth, open: isOpen };
    return isOpen ? [row, ...treeRows(group.children, open, path, depth + 1)] : [row];
  });
}

export function joinPath(parent: string, key: string): string {
  return parent === '' ? key : `${parent}/${key}`;
}

export interface TreeBox extends Rectangle {
  readonly group: AllocationGroup;
  readonly path: string;
  readonly depth: number;
  /** It holds boxes of its own; its name stands in a line above them. */
  readonly divided: boolean;
}

const TITLE_HEIGHT = 16;
const PADDING = 2;
const SMALLEST_DIVIDED = { width: 60, height: 44 };
const DEEPEST = 4;
/** Boxes below this are not told apart by anybody. */
const SMALLEST_AREA = 6;

/** Boxes in the order of drawing: a parent before what lies on it. */
export function treeBoxes(
  groups: readonly AllocationGroup[],
  within: Rectangle,
  parent = '',
  depth = 0,
): TreeBox[] {
  const sorted = groups.toSorted((a, b) => Number(b.allocatedBytes - a.allocatedBytes));
  const boxes = squarify(
    sorted.map(({ allocatedBytes }) => Number(allocatedBytes)),
    within,
  );
  return sorted.flatMap((group, index) => {
    const box = boxes[index] as Rectangle;
    if (box.width * box.height < SMALLEST_AREA) return [];
    const path = joinPath(parent, group.key);
    const divided =
      group.children.length > 0 &&
      depth < DEEPEST &&
      box.width >= SMALLEST_DIVIDED.width &&
      box.height >= SMALLEST_DIVIDED.height;
    const own: TreeBox = { ...box, group, path, depth, divided };
    if (!divided) return [own];
    const inside = {
      x: box.x + PADDING,
      y: box.y + TITLE_HEIGHT,
      width: box.width - 2 * PADDING,
      height: box.height - TITLE_HEIGHT - PADDING,
    };
    // What a scope holds itself, beside its children, keeps its share of the area.
    const ofChildren = group.children.reduce((sum, child) => sum + Number(child.allocatedBytes), 0);
    const share = Math.min(1, ofChildren / Math.max(1, Number(group.allocatedBytes)));
    return [
      own,
      ...treeBoxes(group.children, { ...inside, width: inside.width * share }, path, depth + 1),
    ];
  });
}

/** The innermost box at a point. */
export function boxAt(boxes: readonly TreeBox[], x: number, y: number): TreeBox | undefined {
  return boxes.findLast(
    (box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height,
  );
}

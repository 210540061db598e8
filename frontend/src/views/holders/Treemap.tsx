import { formatBytes, groupDigits } from '../../format/bytes';
import { groupName } from '../../format/source';
import type { AllocationGroup } from '../../generated/datasets_pb';
import { Boxes } from './Boxes';
import { treeBoxes } from './tree';

const HEIGHT = 300;

interface TreemapProps {
  readonly groups: readonly AllocationGroup[];
  /** Looks closer at a group. */
  readonly onChoose: (path: string, group: AllocationGroup) => void;
}

/** Who holds how much, as areas. The tree below it has the same numbers. */
export function Treemap({ groups, onChoose }: TreemapProps) {
  return (
    <Boxes
      height={HEIGHT}
      label="Areas by size. Arrow keys go from group to group, Enter looks closer."
      hint="Point at an area for its numbers; click to see only its allocations."
      boxesIn={(width) => treeBoxes(groups, { x: 0, y: 0, width, height: HEIGHT })}
      nameOf={({ path }) => path}
      describe={({ group, path }) =>
        `${group.line ? groupName(group) : path || '(none)'} · ${formatBytes(group.allocatedBytes)} in ${groupDigits(group.count)} allocations, the largest ${formatBytes(group.largestBytes)}`
      }
      onChoose={({ path, group }) => onChoose(path, group)}
    />
  );
}

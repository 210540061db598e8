import { useState } from 'preact/hooks';
import { formatBytes, groupDigits } from '../../format/bytes';
import { groupName } from '../../format/source';
import type { AllocationGroup } from '../../generated/datasets_pb';
import { Boxes } from './Boxes';
import { flameBoxes, groupAt, ROW_HEIGHT } from './calls';

const MOST_ROWS = 24;

interface FlameProps {
  readonly groups: readonly AllocationGroup[];
  /** Looks at what a line holds. */
  readonly onChoose: (path: string, group: AllocationGroup) => void;
}

/** Who called whom, as boxes as wide as the bytes. The tree below it has the same numbers. */
export function Flame({ groups, onChoose }: FlameProps) {
  const [zoom, setZoom] = useState('');
  const zoomed = zoom === '' ? undefined : groupAt(groups, zoom);
  const shown = zoomed ? [zoomed] : groups;
  return (
    <>
      {zoomed && (
        <p class="button-row">
          <button type="button" class="button" onClick={() => setZoom('')}>
            Show all calls
          </button>
        </p>
      )}
      <Boxes
        height={Math.min(MOST_ROWS, depthOf(shown)) * ROW_HEIGHT}
        label="Calls by the bytes that they hold, callers above what they call. Arrow keys go from call to call, Enter looks closer, Escape shows all."
        hint="Point at a call for its numbers; click to look closer, and at its end for its allocations."
        boxesIn={(width) => flameBoxes(shown, width)}
        nameOf={({ group }) => group.key}
        describe={({ group }) =>
          `${groupName(group)} · ${formatBytes(group.allocatedBytes)} in ${groupDigits(group.count)} allocations${group.line?.text ? ` · ${group.line.text}` : ''}`
        }
        onChoose={({ path, group }) => {
          // A call is looked at more closely; where it ends there are only its allocations.
          if (group.children.length > 0 && group !== zoomed) setZoom(pathWithin(groups, group));
          else onChoose(path, group);
        }}
        onEscape={() => setZoom('')}
      />
    </>
  );
}

/** The path of a group in the whole tree. */
function pathWithin(groups: readonly AllocationGroup[], wanted: AllocationGroup): string {
  return (
    flameBoxes(groups, Number.MAX_SAFE_INTEGER).find(({ group }) => group === wanted)?.path ?? ''
  );
}

function depthOf(groups: readonly AllocationGroup[]): number {
  return groups.reduce((deepest, group) => Math.max(deepest, 1 + depthOf(group.children)), 0);
}

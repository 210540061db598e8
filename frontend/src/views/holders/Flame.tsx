import { useRef, useState } from 'preact/hooks';
import { Canvas, type Surface } from '../../chart/Canvas';
import { coloursOf } from '../../chart/nameColours';
import { textOn } from '../../chart/palette';
import { formatBytes, groupDigits } from '../../format/bytes';
import { groupName } from '../../format/source';
import type { AllocationGroup } from '../../generated/datasets_pb';
import { type FlameBox, flameBoxes, groupAt } from './calls';

const ROW_HEIGHT = 22;
const MOST_ROWS = 24;

interface FlameProps {
  readonly groups: readonly AllocationGroup[];
  /** Looks at what a line holds. */
  readonly onChoose: (path: string, group: AllocationGroup) => void;
}

/** Who called whom, as boxes as wide as the bytes. The tree below it has the same numbers. */
export function Flame({ groups, onChoose }: FlameProps) {
  const boxes = useRef<readonly FlameBox[]>([]);
  const [hovered, setHovered] = useState<FlameBox>();
  const [zoom, setZoom] = useState('');
  const zoomed = zoom === '' ? undefined : groupAt(groups, zoom);
  const shown = zoomed ? [zoomed] : groups;
  const rows = Math.min(MOST_ROWS, depthOf(shown));
  const draw = (surface: Surface) => {
    boxes.current = flameBoxes(shown, surface.width);
    drawBoxes(surface, boxes.current, hovered?.path);
  };
  const choose = (box: FlameBox) => {
    const isZoomed = zoomed !== undefined && box.group === zoomed;
    // A call is looked at more closely; where it ends there are only its allocations.
    if (box.group.children.length > 0 && !isZoomed) setZoom(pathWithin(groups, box.group));
    else onChoose(box.path, box.group);
  };
  const step = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && hovered) choose(hovered);
    if (event.key === 'Escape') setZoom('');
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const all = boxes.current;
    const at = all.findIndex(({ path }) => path === hovered?.path) + move;
    setHovered(all[Math.min(Math.max(0, at), all.length - 1)]);
  };
  const boxAt = ({ offsetX, offsetY }: PointerEvent) =>
    boxes.current.findLast(
      ({ x, width, depth }) =>
        Math.floor(offsetY / ROW_HEIGHT) === depth && offsetX >= x && offsetX < x + width,
    );
  return (
    <>
      {zoomed && (
        <p class="button-row">
          <button type="button" class="button" onClick={() => setZoom('')}>
            Show all calls
          </button>
        </p>
      )}
      <Canvas
        height={rows * ROW_HEIGHT}
        label="Calls by the bytes that they hold, callers above what they call. Arrow keys go from call to call, Enter looks closer, Escape shows all."
        draw={draw}
        onPointerMove={(event) => setHovered(boxAt(event))}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={(event) => {
          const box = boxAt(event);
          if (box) choose(box);
        }}
        onKeyDown={step}
      />
      <p class="readout" aria-live="polite">
        {hovered
          ? `${groupName(hovered.group)} · ${formatBytes(hovered.group.allocatedBytes)} in ${groupDigits(hovered.group.count)} allocations${hovered.group.line?.text ? ` · ${hovered.group.line.text}` : ''}`
          : 'Point at a call for its numbers; click to look closer, and at its end for its allocations.'}
      </p>
    </>
  );
}

const MOVES: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};

/** The path of a group in the whole tree. */
function pathWithin(groups: readonly AllocationGroup[], wanted: AllocationGroup): string {
  return (
    flameBoxes(groups, Number.MAX_SAFE_INTEGER).find(({ group }) => group === wanted)?.path ?? ''
  );
}

function depthOf(groups: readonly AllocationGroup[]): number {
  return groups.reduce((deepest, group) => Math.max(deepest, 1 + depthOf(group.children)), 0);
}

function drawBoxes(
  surface: Surface,
  boxes: readonly FlameBox[],
  hovered: string | undefined,
): void {
  const { context, width, height, palette } = surface;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.font = '12px Roboto, "Helvetica Neue", Arial, sans-serif';
  context.textBaseline = 'middle';
  const names = [...new Set(boxes.map(({ group }) => group.key))];
  const colours = coloursOf(palette, names);
  const colourOf = new Map(names.map((name, index) => [name, colours[index]]));
  for (const box of boxes) {
    const y = box.depth * ROW_HEIGHT;
    const colour = colourOf.get(box.group.key) ?? palette.other;
    context.fillStyle = colour;
    context.fillRect(box.x, y, Math.max(0.5, box.width - 1), ROW_HEIGHT - 1);
    if (box.path === hovered) {
      context.strokeStyle = palette.text;
      context.lineWidth = 2;
      context.strokeRect(box.x + 1, y + 1, Math.max(0, box.width - 3), ROW_HEIGHT - 3);
    }
    if (box.width < 40) continue;
    context.save();
    context.beginPath();
    context.rect(box.x, y, box.width - 4, ROW_HEIGHT);
    context.clip();
    context.fillStyle = textOn(colour);
    context.fillText(
      `${groupName(box.group)}  ${formatBytes(box.group.allocatedBytes)}`,
      box.x + 5,
      y + ROW_HEIGHT / 2,
    );
    context.restore();
  }
}

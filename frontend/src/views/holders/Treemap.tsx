import { useRef, useState } from 'preact/hooks';
import { Canvas, type Surface } from '../../chart/Canvas';
import { coloursOf } from '../../chart/nameColours';
import { textOn } from '../../chart/palette';
import { formatBytes, groupDigits } from '../../format/bytes';
import { groupName } from '../../format/source';
import type { AllocationGroup } from '../../generated/datasets_pb';
import { boxAt, type TreeBox, treeBoxes } from './tree';

const HEIGHT = 300;

interface TreemapProps {
  readonly groups: readonly AllocationGroup[];
  /** Looks closer at a group. */
  readonly onChoose: (path: string, group: AllocationGroup) => void;
}

/** Who holds how much, as areas. The tree below it has the same numbers. */
export function Treemap({ groups, onChoose }: TreemapProps) {
  const boxes = useRef<readonly TreeBox[]>([]);
  const [hovered, setHovered] = useState<TreeBox>();
  const draw = (surface: Surface) => {
    const within = { x: 0, y: 0, width: surface.width, height: surface.height };
    boxes.current = treeBoxes(groups, within);
    drawBoxes(surface, boxes.current, hovered?.path);
  };
  const step = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && hovered) onChoose(hovered.path, hovered.group);
    const move = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (move === 0) return;
    event.preventDefault();
    const all = boxes.current;
    const at = all.findIndex(({ path }) => path === hovered?.path) + move;
    setHovered(all[Math.min(Math.max(0, at), all.length - 1)]);
  };
  return (
    <>
      <Canvas
        height={HEIGHT}
        label="Areas by size. Left and right arrow keys go from group to group, Enter looks closer."
        draw={draw}
        onPointerMove={(event) => setHovered(boxAt(boxes.current, event.offsetX, event.offsetY))}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={(event) => {
          const box = boxAt(boxes.current, event.offsetX, event.offsetY);
          if (box) onChoose(box.path, box.group);
        }}
        onKeyDown={step}
      />
      <p class="readout" aria-live="polite">
        {hovered
          ? `${hovered.group.line ? groupName(hovered.group) : hovered.path || '(none)'} · ${formatBytes(hovered.group.allocatedBytes)} in ${groupDigits(hovered.group.count)} allocations, the largest ${formatBytes(hovered.group.largestBytes)}`
          : 'Point at an area for its numbers; click to see only its allocations.'}
      </p>
    </>
  );
}

function byBytes(a: TreeBox, b: TreeBox): number {
  return Number(b.group.allocatedBytes - a.group.allocatedBytes);
}

function drawBoxes(surface: Surface, boxes: readonly TreeBox[], hovered: string | undefined): void {
  const { context, width, height, palette } = surface;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.font = '12px Roboto, "Helvetica Neue", Arial, sans-serif';
  context.textBaseline = 'top';
  const filled = boxes.filter(({ divided }) => !divided).toSorted(byBytes);
  const colours = coloursOf(
    palette,
    filled.map(({ path }) => path),
  );
  const colourOf = new Map(filled.map(({ path }, index) => [path, colours[index]]));
  for (const box of boxes) {
    const colour = colourOf.get(box.path) ?? palette.other;
    context.fillStyle = box.divided ? palette.hole : colour;
    context.fillRect(box.x, box.y, Math.max(0, box.width - 1), Math.max(0, box.height - 1));
    if (box.path === hovered) {
      context.strokeStyle = palette.text;
      context.lineWidth = 2;
      context.strokeRect(box.x + 1, box.y + 1, box.width - 3, box.height - 3);
    }
    if (box.width < 44 || box.height < 15) continue;
    context.save();
    context.beginPath();
    context.rect(box.x, box.y, box.width - 4, box.height);
    context.clip();
    context.fillStyle = box.divided ? palette.text : textOn(colour);
    context.fillText(
      `${groupName(box.group)}  ${formatBytes(box.group.allocatedBytes)}`,
      box.x + 5,
      box.y + 3,
    );
    context.restore();
  }
}

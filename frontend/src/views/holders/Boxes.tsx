import { useRef, useState } from 'preact/hooks';
import { Canvas, type Surface } from '../../chart/Canvas';
import { coloursOf } from '../../chart/nameColours';
import { textOn } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import { groupName } from '../../format/source';
import { ROW_HEIGHT } from './calls';
import { boxAt, type TreeBox } from './tree';

const SMALLEST_NAMED = { width: 40, height: 15 };

interface BoxesProps {
  readonly height: number;
  readonly label: string;
  readonly hint: string;
  readonly boxesIn: (width: number) => readonly TreeBox[];
  /** Boxes of one name have one colour. */
  readonly nameOf: (box: TreeBox) => string;
  readonly describe: (box: TreeBox) => string;
  readonly onChoose: (box: TreeBox) => void;
  readonly onEscape?: () => void;
}

/** Groups as boxes as large as their bytes: pointer and arrow keys go from one to another, a click chooses one. */
export function Boxes(props: BoxesProps) {
  const { height, label, hint, boxesIn, nameOf, describe, onChoose, onEscape } = props;
  const boxes = useRef<readonly TreeBox[]>([]);
  const [hovered, setHovered] = useState<TreeBox>();
  const step = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && hovered) onChoose(hovered);
    if (event.key === 'Escape') onEscape?.();
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const all = boxes.current;
    const at = all.findIndex(({ path }) => path === hovered?.path) + move;
    setHovered(all[Math.min(Math.max(0, at), all.length - 1)]);
  };
  return (
    <>
      <Canvas
        height={height}
        label={label}
        draw={(surface) => {
          boxes.current = boxesIn(surface.width);
          drawBoxes(surface, boxes.current, nameOf, hovered?.path);
        }}
        onPointerMove={({ offsetX, offsetY }) => setHovered(boxAt(boxes.current, offsetX, offsetY))}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={({ offsetX, offsetY }) => {
          const box = boxAt(boxes.current, offsetX, offsetY);
          if (box) onChoose(box);
        }}
        onKeyDown={step}
      />
      <p class="readout" aria-live="polite">
        {hovered ? describe(hovered) : hint}
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

function drawBoxes(
  { context, palette }: Surface,
  boxes: readonly TreeBox[],
  nameOf: (box: TreeBox) => string,
  hovered: string | undefined,
): void {
  context.font = '12px Roboto, "Helvetica Neue", Arial, sans-serif';
  context.textBaseline = 'middle';
  const filled = boxes
    .filter(({ divided }) => !divided)
    .toSorted((a, b) => Number(b.group.allocatedBytes - a.group.allocatedBytes));
  const names = [...new Set(filled.map(nameOf))];
  const colours = coloursOf(palette, names);
  const colourOf = new Map(names.map((name, index) => [name, colours[index]]));
  for (const box of boxes) {
    const colour = colourOf.get(nameOf(box)) ?? palette.other;
    context.fillStyle = box.divided ? palette.hole : colour;
    context.fillRect(box.x, box.y, Math.max(0.5, box.width - 1), Math.max(0, box.height - 1));
    if (box.path === hovered) {
      context.strokeStyle = palette.text;
      context.lineWidth = 2;
      context.strokeRect(box.x + 1, box.y + 1, Math.max(0, box.width - 3), box.height - 3);
    }
    if (box.width < SMALLEST_NAMED.width || box.height < SMALLEST_NAMED.height) continue;
    context.save();
    context.beginPath();
    context.rect(box.x, box.y, box.width - 4, box.height);
    context.clip();
    context.fillStyle = box.divided ? palette.text : textOn(colour);
    const middle = box.y + Math.min(box.height, box.divided ? 16 : ROW_HEIGHT) / 2;
    const text = `${groupName(box.group)}  ${formatBytes(box.group.allocatedBytes)}`;
    context.fillText(text, box.x + 5, middle);
    context.restore();
  }
}

/** Going through a picture by keys and pointer. */
import { useState } from 'preact/hooks';

/** How far the left and right arrow keys go: -1, 1, or 0 for any other key. What they do is theirs alone. */
export function arrowStep(event: KeyboardEvent): number {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step !== 0) event.preventDefault();
  return step;
}

/** The item beside another one; the first where there is none yet. */
export function besides<Item>(items: readonly Item[], item: Item | undefined, step: number) {
  const at = item === undefined ? 0 : items.indexOf(item) + step;
  return items[Math.min(Math.max(0, at), items.length - 1)];
}

/** Which of the columns that fill a picture is chosen, by the pointer or the arrow keys. */
export function useColumns(count: number, onOpen: (column: number) => void = () => {}) {
  const [chosen, setChosen] = useState<number>();
  const open = () => {
    if (chosen !== undefined) onOpen(chosen);
  };
  const handlers = {
    onPointerMove: ({ currentTarget, offsetX }: PointerEvent) => {
      const share = offsetX / (currentTarget as HTMLElement).clientWidth;
      setChosen(Math.min(count - 1, Math.floor(share * count)));
    },
    onPointerLeave: () => setChosen(undefined),
    onPointerUp: open,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter') open();
      const step = arrowStep(event);
      if (step !== 0) setChosen(Math.min(Math.max(0, (chosen ?? -1) + step), count - 1));
    },
  };
  return { chosen, handlers };
}

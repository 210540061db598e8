/** What keys do in a picture over time: the same in all of them. */
import type { Range } from '../data/window';

export interface TimeActions {
  /** Moves by a share of the width. */
  readonly onPan?: ((share: number) => void) | undefined;
  /** Zooms by a factor around a moment. */
  readonly onZoom?: ((centre: number, factor: number) => void) | undefined;
  readonly onReset?: (() => void) | undefined;
  readonly onPick?: ((time: number) => void) | undefined;
  /** Goes to the step that ran out of memory. */
  readonly onFailure?: (() => void) | undefined;
}

/** Does what the key stands for; `visible` is the part of the time on screen. */
export function onTimeKey(event: KeyboardEvent, visible: Range, actions: TimeActions): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const middle = (visible.from + visible.to) / 2;
  const keys: Record<string, (() => void) | undefined> = {
    ArrowLeft: () => actions.onPan?.(-0.1),
    ArrowRight: () => actions.onPan?.(0.1),
    ArrowUp: () => actions.onZoom?.(middle, 0.7),
    ArrowDown: () => actions.onZoom?.(middle, 1 / 0.7),
    '+': () => actions.onZoom?.(middle, 0.5),
    '-': () => actions.onZoom?.(middle, 2),
    Home: () => actions.onReset?.(),
    f: actions.onFailure,
    Enter: actions.onPick && (() => actions.onPick?.(middle)),
  };
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

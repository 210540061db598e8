import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../store/theme';
import { type Palette, paletteOf } from './palette';

export interface Surface {
  readonly context: CanvasRenderingContext2D;
  /** In CSS pixels; the context is scaled to the device's. */
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
}

interface CanvasProps {
  readonly height: number;
  /** Draws the picture on its background. Called on every render, resize and change of theme. */
  readonly draw: (surface: Surface) => void;
  /** What the picture shows, for those who do not see it. */
  readonly label: string;
  readonly class?: string;
  readonly onPointerMove?: (event: PointerEvent) => void;
  readonly onPointerDown?: (event: PointerEvent) => void;
  readonly onPointerUp?: (event: PointerEvent) => void;
  readonly onPointerLeave?: (event: PointerEvent) => void;
  readonly onDblClick?: (event: MouseEvent) => void;
  readonly onWheel?: (event: WheelEvent) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/** A canvas as wide as its parent, sharp on any screen, and focusable. */
export function Canvas({ height, draw, label, onWheel, ...handlers }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(canvas);
  const palette = paletteOf(theme.value);

  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    // A hidden tab has no width: it is drawn when it is shown.
    if (!element || !context || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, width, height);
    draw({ context, width, height, palette });
  });

  // Preact registers wheel listeners as passive; zooming has to keep the page still.
  useEffect(() => {
    const element = canvas.current;
    if (!element || !onWheel) return;
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [onWheel]);

  return (
    <canvas
      ref={canvas}
      // Pictures are worked by keyboard
      tabIndex={0}
      role="img"
      aria-label={label}
      style={{ height: `${height}px` }}
      {...handlers}
    />
  );
}

/** A straight line from one point to another, in the context's stroke. */
export function strokeLine(
  context: CanvasRenderingContext2D,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/** The width of an element in CSS pixels, kept up to date; 0 while it is hidden. */
export function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const observer = new ResizeObserver(() => setWidth(observed.clientWidth));
    observer.observe(observed);
    setWidth(observed.clientWidth);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

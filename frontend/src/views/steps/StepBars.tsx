import { useState } from 'preact/hooks';
import { Canvas, type Surface } from '../../chart/Canvas';
import { formatBytes } from '../../format/bytes';
import type { StepUse } from '../../generated/datasets_pb';
import { stepBars } from './bars';
import { showStep } from './showStep';

const HEIGHT = 140;

/** Peak and rest of every step beside one another: which step is unlike the others. */
export function StepBars({ steps }: { readonly steps: readonly StepUse[] }) {
  const [hovered, setHovered] = useState<number>();
  const at = hovered === undefined ? undefined : steps[hovered];
  const find = (event: PointerEvent) => {
    const width = (event.currentTarget as HTMLElement).clientWidth;
    setHovered(Math.min(steps.length - 1, Math.floor((event.offsetX / width) * steps.length)));
  };
  const step = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && at) showStep(at);
    const move = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (move === 0) return;
    event.preventDefault();
    setHovered(Math.min(Math.max(0, (hovered ?? -1) + move), steps.length - 1));
  };
  return (
    <>
      <ul class="legend">
        <li>
          <span class="swatch in-use" /> peak of the step
        </li>
        <li>
          <span class="swatch" style={{ background: 'var(--in-use)' }} /> in use at its end
        </li>
      </ul>
      <Canvas
        height={HEIGHT}
        label="Peak and rest of each step. Left and right arrow keys go from step to step, Enter shows one."
        draw={(surface) => drawBars(surface, steps, hovered)}
        onPointerMove={find}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={() => at && showStep(at)}
        onKeyDown={step}
      />
      <p class="readout" aria-live="polite">
        {at
          ? `Step ${at.step?.step}: peak ${formatBytes(at.peak?.inUseBytes ?? 0n)}, at its end ${formatBytes(at.endInUseBytes)}, ${formatBytes(at.survivorBytes)} of it from this step`
          : 'Point at a step; click to see it in the timeline.'}
      </p>
    </>
  );
}

function drawBars(surface: Surface, steps: readonly StepUse[], hovered: number | undefined): void {
  const { context, width, height, palette } = surface;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  for (const bar of stepBars(steps, width, height)) {
    context.fillStyle = palette.inUseFill;
    context.fillRect(bar.x, height - bar.peak, bar.width, bar.peak);
    context.fillStyle = palette.inUse;
    context.fillRect(bar.x, height - bar.end, bar.width, bar.end);
    context.fillRect(bar.x, height - bar.peak, bar.width, 2);
    if (bar.index === hovered) {
      context.strokeStyle = palette.text;
      context.strokeRect(bar.x - 0.5, 0.5, bar.width + 1, height - 1);
    }
  }
}

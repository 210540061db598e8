import { Canvas, type Surface } from '../../chart/Canvas';
import { paletteOf } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import type { StepUse } from '../../generated/datasets_pb';
import { theme } from '../../store/theme';
import { useColumns } from '../../ui/keys';
import { Legend } from '../../ui/Legend';
import { showStep, stepBars } from './bars';

const HEIGHT = 140;

/** Peak and rest of every step beside one another: which step is unlike the others. */
export function StepBars({ steps }: { readonly steps: readonly StepUse[] }) {
  const { chosen, handlers } = useColumns(steps.length, (index) => {
    const opened = steps[index];
    if (opened) showStep(opened);
  });
  const at = chosen === undefined ? undefined : steps[chosen];
  const palette = paletteOf(theme.value);
  return (
    <>
      <Legend
        entries={[
          { name: 'peak of the step', sign: 'area', colour: palette.inUse },
          { name: 'in use at its end', colour: palette.inUse },
        ]}
      />
      <Canvas
        height={HEIGHT}
        label="Peak and rest of each step. Left and right arrow keys go from step to step, Enter shows one."
        draw={(surface) => drawBars(surface, steps, chosen)}
        {...handlers}
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

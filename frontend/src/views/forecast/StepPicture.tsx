import { Canvas, type Surface, strokeLine } from '../../chart/Canvas';
import { coloursOf } from '../../chart/nameColours';
import { paletteOf } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import type { StepForecast } from '../../generated/datasets_pb';
import { theme } from '../../store/theme';
import { useColumns } from '../../ui/keys';
import { Legend } from '../../ui/Legend';
import { ceilingOf, stackOf } from './stack';

const HEIGHT = 220;

/** What the step would hold over the order of its ops, by layer: which of them make its peak. */
export function StepPicture({ forecast }: { readonly forecast: StepForecast }) {
  const { chosen, handlers } = useColumns(forecast.columns.length);
  const at = chosen === undefined ? undefined : forecast.columns[chosen];
  const colours = coloursOf(paletteOf(theme.value), forecast.layers);
  return (
    <>
      <Legend
        entries={forecast.layers.map((name, index) => ({ name, colour: colours[index] ?? '' }))}
      />
      <Canvas
        height={HEIGHT}
        label="What the step would hold over the order of its ops, by layer. Left and right arrow keys go along it."
        draw={(surface) => drawStep(surface, forecast, colours, chosen)}
        {...handlers}
      />
      <p class="readout" aria-live="polite">
        {at
          ? `${formatBytes(at.inUseBytes)} in use${at.opName && `, ${at.opName} asks`}`
          : 'The step from its first request to its last; below, what was live before it.'}
      </p>
    </>
  );
}

function drawStep(
  surface: Surface,
  forecast: StepForecast,
  colours: readonly string[],
  hovered: number | undefined,
): void {
  const { context, width, height, palette } = surface;
  for (const part of stackOf(forecast, width, height)) {
    context.fillStyle = part.layer < 0 ? palette.inUseFill : (colours[part.layer] ?? palette.other);
    context.fillRect(part.x, part.y, Math.ceil(part.width), part.height);
    if (part.column === hovered && part.layer < 0) {
      context.strokeStyle = palette.text;
      context.strokeRect(part.x + 0.5, 0.5, part.width, height - 1);
    }
  }
  const limit = Number(forecast.limitBytes);
  if (limit === 0 || limit > ceilingOf(forecast)) return;
  const y = Math.round(height - (limit / ceilingOf(forecast)) * height) + 0.5;
  context.strokeStyle = palette.text;
  context.setLineDash([4, 3]);
  strokeLine(context, 0, y, width, y);
  context.setLineDash([]);
}

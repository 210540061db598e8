import { useState } from 'preact/hooks';
import { Canvas, type Surface } from '../../chart/Canvas';
import { coloursOf } from '../../chart/nameColours';
import { paletteOf } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import type { StepForecast } from '../../generated/datasets_pb';
import { theme } from '../../store/theme';
import { ColourLegend } from '../../ui/ColourLegend';
import { ceilingOf, stackOf } from './stack';

const HEIGHT = 220;

/** What the step would hold over the order of its ops, by layer: which of them make its peak. */
export function StepPicture({ forecast }: { readonly forecast: StepForecast }) {
  const [hovered, setHovered] = useState<number>();
  const count = forecast.columns.length;
  const at = hovered === undefined ? undefined : forecast.columns[hovered];
  const colours = coloursOf(paletteOf(theme.value), forecast.layers);
  const find = (event: PointerEvent) => {
    const width = (event.currentTarget as HTMLElement).clientWidth;
    setHovered(Math.min(count - 1, Math.floor((event.offsetX / width) * count)));
  };
  const step = (event: KeyboardEvent) => {
    const move = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (move === 0) return;
    event.preventDefault();
    setHovered(Math.min(Math.max(0, (hovered ?? -1) + move), count - 1));
  };
  const groups = forecast.layers.map((name, index) => ({ name, colour: colours[index] ?? '' }));
  return (
    <>
      <ColourLegend groups={groups} />
      <Canvas
        height={HEIGHT}
        label="What the step would hold over the order of its ops, by layer. Left and right arrow keys go along it."
        draw={(surface) => drawStep(surface, forecast, colours, hovered)}
        onPointerMove={find}
        onPointerLeave={() => setHovered(undefined)}
        onKeyDown={step}
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
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
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
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
}

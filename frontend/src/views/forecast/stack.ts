import type { StepForecast } from '../../generated/datasets_pb';

/** A part of a column in pixels; `layer` -1: what was live before the step. */
export interface StackPart {
  readonly column: number;
  readonly layer: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The most that the picture has to hold: the step's peak, or the limit where that is near. */
export function ceilingOf(forecast: StepForecast): number {
  const peak = Math.max(1, ...forecast.columns.map(({ inUseBytes }) => Number(inUseBytes)));
  const limit = Number(forecast.limitBytes);
  return (limit < 2 * peak ? Math.max(peak, limit) : peak) * 1.04;
}

/** Each column from the bottom: what was live before, then the layers, the largest lowest. */
export function stackOf(forecast: StepForecast, width: number, height: number): StackPart[] {
  const { columns, layers } = forecast;
  const scale = height / ceilingOf(forecast);
  const step = width / Math.max(1, columns.length);
  return columns.flatMap(({ layerBytes }, column) => {
    let top = height;
    const part = (layer: number, bytes: bigint): StackPart => {
      const tall = Number(bytes) * scale;
      top -= tall;
      return { column, layer, x: column * step, y: top, width: step, height: tall };
    };
    return [
      part(-1, forecast.liveBytes),
      ...layers.map((_, layer) => part(layer, layerBytes[layer] ?? 0n)),
    ];
  });
}

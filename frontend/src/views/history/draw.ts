import { type Surface, strokeLine } from '../../chart/Canvas';
import type { Colouring } from '../../chart/colouring';
import type { Palette } from '../../chart/palette';
import type { Range } from '../../data/window';
import type { AddressHistory, HistoryRectangle } from '../../generated/datasets_pb';
import { type Bands, type Box, boxOf } from './geometry';

export interface HistoryScene {
  readonly history: AddressHistory;
  readonly bands: Bands;
  readonly originNs: bigint;
  readonly visible: Range;
  readonly colouring: Colouring<HistoryRectangle>;
  /** From coveragePicture(). */
  readonly coverage: OffscreenCanvas | undefined;
  /** The moment shown, ns after the origin. */
  readonly moment: number | undefined;
  readonly hovered: HistoryRectangle | undefined;
  readonly pins: ReadonlySet<bigint>;
}

/** Of 255: a cell with a little in it is still seen. */
const FAINTEST = 48;

/** Draws the picture and returns the boxes on it, for the pointer. */
export function drawHistory(
  surface: Surface,
  scene: HistoryScene,
): readonly (readonly [Box, HistoryRectangle])[] {
  const { context, width, height, palette } = surface;
  context.fillStyle = palette.hole;
  context.fillRect(0, 0, width, height);
  drawCoverage(surface, scene);
  const placed: (readonly [Box, HistoryRectangle])[] = [];
  for (const rectangle of scene.history.rectangles) {
    const box = boxOf(rectangle, scene.bands, scene.originNs, scene.visible, surface);
    if (!box) continue;
    placed.push([box, rectangle]);
    context.fillStyle = scene.colouring.colourOf(rectangle);
    context.fillRect(
      box.x,
      box.y,
      box.width,
      Math.max(0.5, box.height - (box.height > 3 ? 0.5 : 0)),
    );
    const marked = rectangle === scene.hovered || scene.pins.has(rectangle.allocationId);
    if (marked) {
      context.strokeStyle = rectangle === scene.hovered ? palette.text : palette.oom;
      context.lineWidth = 1.5;
      context.strokeRect(box.x, box.y, box.width, box.height);
    }
  }
  drawRegionEdges(surface, scene.bands);
  if (scene.moment !== undefined) drawMoment(surface, scene, scene.moment);
  return placed;
}

/** What is too small for a rectangle: the darker, the more of the cell is in use. */
export function coveragePicture(
  { coverage, rows, columns }: AddressHistory,
  palette: Palette,
): OffscreenCanvas | undefined {
  if (rows === 0 || columns === 0 || coverage.length < rows * columns) return undefined;
  const picture = new OffscreenCanvas(columns, rows);
  const context = picture.getContext('2d');
  if (!context) return undefined;
  const image = context.createImageData(columns, rows);
  const [red, green, blue] = [1, 3, 5].map((at) =>
    Number.parseInt(palette.other.slice(at, at + 2), 16),
  ) as [number, number, number];
  for (let row = 0; row < rows; row += 1) {
    // Rows come from the lowest address, pictures from the top.
    let at = 4 * (rows - 1 - row) * columns;
    for (let column = 0; column < columns; column += 1) {
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      const share = coverage[row * columns + column] ?? 0;
      image.data[at + 3] = share === 0 ? 0 : Math.max(FAINTEST, share);
      at += 4;
    }
  }
  context.putImageData(image, 0, 0);
  return picture;
}

function drawCoverage({ context, width, height }: Surface, scene: HistoryScene): void {
  if (!scene.coverage) return;
  const { fromNs, toNs } = scene.history;
  const scale = width / (scene.visible.to - scene.visible.from);
  const left = (Number(fromNs - scene.originNs) - scene.visible.from) * scale;
  const right = (Number(toNs - scene.originNs) - scene.visible.from) * scale;
  context.drawImage(scene.coverage, left, 0, right - left, height);
}

function drawRegionEdges({ context, width, height, palette }: Surface, bands: Bands): void {
  context.strokeStyle = palette.mutedText;
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  for (const { below } of bands.bands.slice(1)) {
    const y = height - (below / bands.total) * height;
    strokeLine(context, 0, y, width, y);
  }
  context.setLineDash([]);
}

function drawMoment(
  { context, width, height, palette }: Surface,
  scene: HistoryScene,
  moment: number,
): void {
  const { from, to } = scene.visible;
  const x = ((moment - from) / (to - from)) * width;
  context.strokeStyle = palette.moment;
  context.lineWidth = 2;
  strokeLine(context, x, 0, x, height);
}

import type { Surface } from '../../chart/Canvas';
import { colourOf } from '../../chart/palette';
import type { Range } from '../../chart/window';
import { roleName } from '../../format/names';
import type { AddressHistory, HistoryRectangle, HistorySite } from '../../generated/datasets_pb';
import type { ColourBy } from '../address-map/draw';
import { type Bands, type Box, boxOf } from './geometry';

export interface HistoryScene {
  readonly history: AddressHistory;
  readonly bands: Bands;
  readonly originNs: bigint;
  readonly visible: Range;
  readonly colourBy: ColourBy;
  readonly momentNs: bigint | undefined;
  readonly hovered: HistoryRectangle | undefined;
  readonly pins: ReadonlySet<bigint>;
}

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
    const site = scene.history.sites[rectangle.site];
    context.fillStyle = colourOf(palette, site ? siteKey(site, rectangle, scene.colourBy) : '');
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
  if (scene.momentNs !== undefined) drawMoment(surface, scene, scene.momentNs);
  return placed;
}

/** What is too small for a rectangle: the darker, the more of the cell is in use. */
function drawCoverage({ context, width, height, palette }: Surface, scene: HistoryScene): void {
  const { coverage, rows, columns, fromNs, toNs } = scene.history;
  if (rows === 0 || columns === 0 || coverage.length < rows * columns) return;
  const picture = new OffscreenCanvas(columns, rows);
  const target = picture.getContext('2d');
  if (!target) return;
  const image = target.createImageData(columns, rows);
  const [red, green, blue] = [1, 3, 5].map((at) =>
    Number.parseInt(palette.other.slice(at, at + 2), 16),
  ) as [number, number, number];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      // Rows come from the lowest address, pictures from the top.
      const at = 4 * ((rows - 1 - row) * columns + column);
      image.data.set([red, green, blue, coverage[row * columns + column] ?? 0], at);
    }
  }
  target.putImageData(image, 0, 0);
  const scale = width / (scene.visible.to - scene.visible.from);
  const left = (Number(fromNs - scene.originNs) - scene.visible.from) * scale;
  const right = (Number(toNs - scene.originNs) - scene.visible.from) * scale;
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, left, 0, right - left, height);
}

function drawRegionEdges({ context, width, height, palette }: Surface, bands: Bands): void {
  context.strokeStyle = palette.mutedText;
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  for (const { below } of bands.bands.slice(1)) {
    const y = height - (below / bands.total) * height;
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
  }
  context.setLineDash([]);
}

function drawMoment(
  { context, width, height, palette }: Surface,
  scene: HistoryScene,
  ns: bigint,
): void {
  const { from, to } = scene.visible;
  const x = ((Number(ns - scene.originNs) - from) / (to - from)) * width;
  context.strokeStyle = palette.moment;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
}

function siteKey(site: HistorySite, rectangle: HistoryRectangle, by: ColourBy): string {
  switch (by) {
    case 'op':
      return site.opName.split('/').at(-1) ?? '';
    case 'dtype':
      return site.dtype;
    case 'role':
      return roleName(site.role);
    case 'step':
      return rectangle.step < 0n ? '' : `step ${rectangle.step}`;
    default:
      return site.scope || site.opName;
  }
}

import { type Surface, strokeLine } from '../../chart/Canvas';
import type { Colouring } from '../../chart/colouring';
import type { Palette } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import type { AddressMap, Allocation, Chunk } from '../../generated/datasets_pb';
import { type AddressRange, type Layout, rangeOfChunk, stripsOf } from './layout';

const ROW_HEIGHT = 18;
const ROW_GAP = 4;
/** Beside the rows: which region begins there. */
export const LABEL_WIDTH = 96;
const REGION_GAP = 6;

export interface MapScene {
  readonly map: AddressMap;
  /** The map's chunks, compiled blocks opened into their buffers. */
  readonly shown: readonly Chunk[];
  readonly layout: Layout;
  readonly colouring: Colouring<Allocation>;
  readonly hovered: Chunk | undefined;
  /** The hole that the request would have had to fit into, and the request. */
  readonly hole: Chunk | undefined;
  readonly requestBytes: bigint;
  /** Allocations whose release would have opened a big enough hole, by address. */
  readonly pins: ReadonlySet<bigint>;
}

/** The vertical place of a row; regions stand a little apart. */
function rowTop(layout: Layout, row: number): number {
  const region = layout.rows[row]?.region ?? 0;
  return row * (ROW_HEIGHT + ROW_GAP) + region * REGION_GAP;
}

export function mapHeight(layout: Layout): number {
  return layout.rows.length === 0 ? 0 : rowTop(layout, layout.rows.length - 1) + ROW_HEIGHT + 8;
}

/** The row at a height, or -1 between rows. */
export function rowAtHeight(layout: Layout, y: number): number {
  return layout.rows.findIndex((_, row) => {
    const top = rowTop(layout, row);
    return y >= top && y < top + ROW_HEIGHT;
  });
}

export function drawMap(surface: Surface, scene: MapScene): void {
  const { palette } = surface;
  drawRegions(surface, scene);
  for (const chunk of scene.shown) drawChunk(surface, scene, chunk);
  if (scene.hole) drawRequest(surface, scene, scene.hole);
  if (scene.hovered) outline(surface, scene.layout, rangeOfChunk(scene.hovered), palette.text, 2);
}

function drawRegions({ context, width, palette }: Surface, { map, layout }: MapScene): void {
  context.font = '11.5px Roboto, "Helvetica Neue", Arial, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  layout.rows.forEach((row, index) => {
    const top = rowTop(layout, index);
    const share = Number(row.to - row.from) / Number(layout.bytesPerRow);
    context.fillStyle = palette.hole;
    context.fillRect(LABEL_WIDTH, top, (width - LABEL_WIDTH) * share, ROW_HEIGHT);
    const region = map.regions[row.region];
    if (!region || layout.rows[index - 1]?.region === row.region) return;
    context.fillStyle = palette.mutedText;
    context.fillText(
      `${row.region + 1} · ${formatBytes(region.sizeBytes)}`,
      LABEL_WIDTH - 8,
      top + ROW_HEIGHT / 2,
    );
  });
  context.textAlign = 'left';
}

function drawChunk(surface: Surface, scene: MapScene, chunk: Chunk): void {
  const { context, palette } = surface;
  for (const box of boxesOf(surface, scene.layout, rangeOfChunk(chunk))) {
    if (chunk.free || !chunk.allocation) {
      context.fillStyle = palette.holeEdge;
      context.fillRect(box.x, box.y, 1, box.height);
      continue;
    }
    context.fillStyle = chunk.allocation.compiled?.isUnused
      ? palette.holeEdge
      : scene.colouring.colourOf(chunk.allocation);
    // A line of the background between neighbours, where there is room for one.
    context.fillRect(box.x, box.y, box.width > 2 ? box.width - 0.75 : box.width, box.height);
    if (scene.pins.has(chunk.allocation.compiled?.blockAddress || chunk.address))
      hatch(context, box, palette);
  }
}

/** The request to scale, from the start of the largest hole, as far as its region reaches. */
function drawRequest(surface: Surface, scene: MapScene, hole: Chunk): void {
  const { context, palette } = surface;
  outline(surface, scene.layout, rangeOfChunk(hole), palette.oom, 1.5);
  if (scene.requestBytes === 0n) return;
  const region = scene.map.regions[hole.region];
  const end = region ? region.address + region.sizeBytes : hole.address + hole.sizeBytes;
  const wantedEnd = hole.address + scene.requestBytes;
  const wanted = { from: hole.address, to: wantedEnd < end ? wantedEnd : end };
  context.fillStyle = palette.oom;
  for (const box of boxesOf(surface, scene.layout, wanted)) {
    context.fillRect(box.x, box.y + box.height - 4, box.width, 4);
  }
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function boxesOf({ width }: Surface, layout: Layout, range: AddressRange): Box[] {
  const scale = width - LABEL_WIDTH;
  return stripsOf(range, layout).map(({ row, left, right }) => ({
    x: LABEL_WIDTH + left * scale,
    y: rowTop(layout, row),
    width: Math.max((right - left) * scale, 0.5),
    height: ROW_HEIGHT,
  }));
}

function outline(
  surface: Surface,
  layout: Layout,
  range: AddressRange,
  colour: string,
  lineWidth: number,
): void {
  surface.context.strokeStyle = colour;
  surface.context.lineWidth = lineWidth;
  for (const box of boxesOf(surface, layout, range)) {
    surface.context.strokeRect(
      box.x - 0.5,
      box.y - 0.5,
      Math.max(2, box.width + 1),
      box.height + 1,
    );
  }
}

/** Pins are told by a pattern too, not by colour alone. */
function hatch(context: CanvasRenderingContext2D, box: Box, palette: Palette): void {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  context.strokeStyle = palette.background;
  context.lineWidth = 2;
  for (let x = box.x - box.height; x < box.x + box.width; x += 6) {
    strokeLine(context, x, box.y + box.height, x + box.height, box.y);
  }
  context.restore();
}

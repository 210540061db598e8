/** What the timeline shows beside its lines: steps, limit, the moment, OOMs to scale. */
import type uPlot from 'uplot';
import { strokeLine } from '../../chart/Canvas';
import type { Palette } from '../../chart/palette';
import type { Gap } from '../../data/warp';
import { formatBytes } from '../../format/bytes';
import { formatDuration } from '../../format/time';
import { MarkKind, type TimelineSeries } from '../../generated/datasets_pb';
import type { DeviceArrays } from './device';
import { failingStep } from './failing';
import { inUseAt, oomMarks } from './model';

export interface Scene {
  readonly series: TimelineSeries;
  readonly originNs: bigint;
  /** The moment that the other views show; undefined: none known yet. */
  readonly momentNs: bigint | undefined;
  /** The device that the pool lies on; undefined: nobody looked at it. */
  readonly device: DeviceArrays | undefined;
  /** What the axis leaves out, in ns after the origin. */
  readonly gaps: readonly Gap[];
}

/** Further OOMs at one moment are in the table. */
const MOST_OOM_ROWS = 3;
const STEP_LABEL_PIXELS = 52;
/** Narrower steps would only make the ground look grey. */
const STEP_BAND_PIXELS = 5;

/** Every second step is shaded, numbered where there is room. */
export function drawSteps(plot: uPlot, palette: Palette, scene: Scene): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  clip(plot);
  ctx.font = font(11, ratio);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';
  const failing = failingStep(scene.series);
  for (const { step, beginNs, endNs } of scene.series.steps) {
    const left = x(plot, scene, beginNs);
    const right = x(plot, scene, endNs);
    if (right < bbox.left || left > bbox.left + bbox.width) continue;
    if (step % 2n === 0n && right - left >= STEP_BAND_PIXELS * ratio) {
      ctx.fillStyle = palette.band;
      ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height);
    }
    if (right - left > STEP_LABEL_PIXELS * ratio) {
      const failed = failing?.step === step;
      ctx.fillStyle = failed ? palette.oom : palette.mutedText;
      const bottom = bbox.top + bbox.height - 2 * ratio;
      ctx.fillText(
        failed ? `step ${step} failed` : `step ${step}`,
        Math.max(left, bbox.left) + 3 * ratio,
        bottom,
      );
    }
  }
  ctx.restore();
}

/** Limit, chosen moment, peak, growth of the pool, failed probes, OOMs. */
export function drawMarks(plot: uPlot, palette: Palette, scene: Scene): void {
  const { ctx } = plot;
  ctx.save();
  clip(plot);
  const { device } = scene;
  if (device) drawLimit(plot, palette, 'device', device.totalBytes, palette.device);
  drawLimit(plot, palette, 'limit', Number(scene.series.limitBytes), palette.limit);
  drawGaps(plot, palette, scene);
  drawSmallMarks(plot, palette, scene);
  if (scene.momentNs !== undefined) drawMoment(plot, palette, x(plot, scene, scene.momentNs));
  drawPeak(plot, palette, scene);
  drawOoms(plot, palette, scene);
  ctx.restore();
}

/** A dashed line across the picture with its name and size. */
function drawLimit(
  plot: uPlot,
  palette: Palette,
  name: string,
  limit: number,
  colour: string,
): void {
  if (limit === 0 || limit > (plot.scales.y?.max ?? 0)) return;
  const { ctx, bbox } = plot;
  const y = plot.valToPos(limit, 'y', true);
  const ratio = devicePixelRatio;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([6 * ratio, 4 * ratio]);
  strokeLine(ctx, bbox.left, y, bbox.left + bbox.width, y);
  ctx.setLineDash([]);
  label(plot, palette, `${name} ${formatBytes(limit)}`, bbox.left + 6 * ratio, y, colour);
}

/** Where the axis leaves out time in which nothing happened, and how much. */
function drawGaps(plot: uPlot, palette: Palette, scene: Scene): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const labelled: LabelBox[] = [];
  // The longest says how long it is where there is no room for all.
  for (const { from, to } of [...scene.gaps].sort((a, b) => b.to - b.from - (a.to - a.from))) {
    const left = plot.valToPos(from, 'x', true);
    const right = plot.valToPos(to, 'x', true);
    if (right < bbox.left || left > bbox.left + bbox.width) continue;
    ctx.fillStyle = palette.band;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    const text = `${formatDuration(to - from)} without events`;
    const box = labelBox(plot, text, left);
    if (labelled.some((other) => overlap(box, other))) continue;
    labelled.push(box);
    label(plot, palette, text, left, bbox.top + bbox.height - 24 * ratio, palette.mutedText);
  }
}

function drawSmallMarks(plot: uPlot, palette: Palette, scene: Scene): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const bottom = bbox.top + bbox.height;
  for (const mark of scene.series.marks) {
    if (mark.kind === MarkKind.MARK_OOM) continue;
    const at = x(plot, scene, mark.timeNs);
    ctx.fillStyle = mark.kind === MarkKind.MARK_FAILED_PROBE ? palette.moment : palette.reserved;
    const down = mark.kind === MarkKind.MARK_REGION_REMOVE;
    const size = 4.5 * ratio;
    ctx.beginPath();
    ctx.moveTo(at - size, down ? bottom - 2 * size : bottom);
    ctx.lineTo(at + size, down ? bottom - 2 * size : bottom);
    ctx.lineTo(at, down ? bottom : bottom - 2 * size);
    ctx.fill();
  }
}

function drawMoment(plot: uPlot, palette: Palette, at: number): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.strokeStyle = palette.moment;
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  strokeLine(ctx, at, bbox.top, at, bbox.top + bbox.height);
  ctx.setLineDash([]);
}

function drawPeak(plot: uPlot, palette: Palette, scene: Scene): void {
  const { peak } = scene.series;
  if (!peak) return;
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.beginPath();
  ctx.arc(
    x(plot, scene, peak.timeNs),
    plot.valToPos(Number(peak.inUseBytes), 'y', true),
    4 * ratio,
    0,
    2 * Math.PI,
  );
  ctx.fillStyle = palette.background;
  ctx.fill();
  ctx.strokeStyle = palette.inUse;
  ctx.lineWidth = 2 * ratio;
  ctx.stroke();
}

/** A red bar from what was in use up to what it would have been: the request, to scale. */
function drawOoms(plot: uPlot, palette: Palette, scene: Scene): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const ooms = oomMarks(scene.series.marks);
  // Rows of labels, where those of one moment stand below each other.
  const rows: LabelBox[][] = Array.from({ length: MOST_OOM_ROWS }, () => []);
  for (const mark of ooms) {
    const at = x(plot, scene, mark.timeNs);
    const before = inUseAt(scene.series, mark.timeNs);
    const low = plot.valToPos(before, 'y', true);
    const high = plot.valToPos(before + Number(mark.bytes), 'y', true);
    ctx.strokeStyle = palette.oom;
    ctx.lineWidth = 1.5 * ratio;
    strokeLine(ctx, at, bbox.top, at, bbox.top + bbox.height);
    ctx.fillStyle = palette.oom;
    ctx.fillRect(at - 3 * ratio, high, 6 * ratio, low - high);
    const name = ooms.length > 1 ? `OOM ${mark.oom + 1}` : 'OOM';
    const text = `${name}: ${formatBytes(mark.bytes)} refused`;
    const box = labelBox(plot, text, at);
    const row = rows.findIndex((labelled) => !labelled.some((other) => overlap(box, other)));
    if (row < 0) continue;
    rows[row]?.push(box);
    label(plot, palette, text, at, bbox.top + (12 + 20 * row) * ratio, palette.oom);
  }
}

/** Where a label beside `at` lies across, in pixels of the canvas. */
interface LabelBox {
  readonly left: number;
  readonly right: number;
}

/** To the right of `at`, or to its left where there is no room. */
function labelBox(plot: uPlot, text: string, at: number): LabelBox {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.font = font(11.5, ratio, 500);
  const width = ctx.measureText(text).width + 10 * ratio;
  const fits = at + 6 * ratio + width < bbox.left + bbox.width;
  const left = fits ? at + 6 * ratio : at - 6 * ratio - width;
  return { left, right: left + width };
}

function overlap(a: LabelBox, b: LabelBox): boolean {
  return a.left < b.right && b.left < a.right;
}

/** Text on a plate, at the side of `at` where there is room. */
function label(
  plot: uPlot,
  palette: Palette,
  text: string,
  at: number,
  y: number,
  colour: string,
): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  const { left, right } = labelBox(plot, text, at);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = palette.background;
  ctx.fillRect(left, y - 9 * ratio, right - left, 18 * ratio);
  ctx.fillStyle = colour;
  ctx.fillText(text, left + 5 * ratio, y);
}

function x(plot: uPlot, scene: Scene, timeNs: bigint): number {
  return plot.valToPos(Number(timeNs - scene.originNs), 'x', true);
}

function font(size: number, ratio: number, weight = 400): string {
  return `${weight} ${size * ratio}px Roboto, "Helvetica Neue", Arial, sans-serif`;
}

function clip({ ctx, bbox }: uPlot): void {
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
}

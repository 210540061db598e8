import { Canvas, type Surface, strokeLine } from '../../chart/Canvas';
import { formatBytes } from '../../format/bytes';
import type { WhatIfLimit } from '../../generated/datasets_pb';
import type { DataColumn } from '../../ui/DataTable';
import { TableOf } from '../../ui/TableOf';
import { limitRange } from './settings';

interface LimitsProps {
  /** The smallest first. */
  readonly limits: readonly WhatIfLimit[];
  readonly recorded: bigint;
  readonly asked: bigint;
  /** 0: none was found. */
  readonly smallest: bigint;
}

const HEIGHT = 64;
const MIDDLE = 26;
const RADIUS = 5;

const COLUMNS: readonly DataColumn<WhatIfLimit>[] = [
  { title: 'Limit', text: ({ limitBytes }) => formatBytes(limitBytes) },
  { title: 'Outcome', text: ({ fits }) => (fits ? 'fits' : 'does not fit') },
  { title: 'Peak reserved', text: ({ peakReservedBytes }) => formatBytes(peakReservedBytes) },
];

/** Which limits would have been enough: those that were tried, along a line. */
export function Limits(props: LimitsProps) {
  const enough =
    props.smallest > 0n ? `enough from ${formatBytes(props.smallest)} on` : 'none is enough';
  return (
    <>
      <h3>Which limit is enough</h3>
      <Canvas
        height={HEIGHT}
        label={`Limits that were tried: ${enough}`}
        draw={(surface) => drawLimits(surface, props)}
      />
      <TableOf
        caption="Limits that were tried"
        columns={COLUMNS}
        rows={props.limits}
        rowKey={({ limitBytes }) => String(limitBytes)}
      />
    </>
  );
}

function drawLimits({ context, width, height, palette }: Surface, props: LimitsProps): void {
  const { limits, recorded, asked, smallest } = props;
  const range = limitRange(limits, recorded, asked, smallest);
  const place = (bytes: bigint) =>
    ((Number(bytes) - range.from) / (range.to - range.from)) * (width - 2 * RADIUS) + RADIUS;
  context.fillStyle = palette.hole;
  context.fillRect(0, MIDDLE - 3, width, 6);
  if (smallest > 0n) {
    context.fillStyle = palette.requested;
    context.fillRect(place(smallest), MIDDLE - 3, width - place(smallest), 6);
  }
  for (const { limitBytes, fits } of limits) {
    const x = place(limitBytes);
    context.beginPath();
    context.arc(x, MIDDLE, RADIUS, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = fits ? palette.requested : palette.oom;
    context.fillStyle = fits ? palette.requested : palette.background;
    context.fill();
    context.stroke();
  }
  context.font = '11.5px Roboto, "Helvetica Neue", Arial, sans-serif';
  mark(
    context,
    place(recorded),
    `recorded ${formatBytes(recorded)}`,
    palette.limit,
    height - 6,
    width,
  );
  if (smallest > 0n) {
    mark(context, place(smallest), formatBytes(smallest), palette.requested, 12, width);
  }
}

/** A line at a limit, with its name above or below. */
function mark(
  context: CanvasRenderingContext2D,
  x: number,
  text: string,
  colour: string,
  y: number,
  width: number,
): void {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  strokeLine(context, x, MIDDLE - 12, x, MIDDLE + 12);
  context.fillStyle = colour;
  context.textAlign = 'left';
  const left = Math.min(
    Math.max(0, x - context.measureText(text).width / 2),
    width - context.measureText(text).width,
  );
  context.fillText(text, left, y);
}

import { type Surface, strokeLine } from '../../chart/Canvas';
import type { Colouring } from '../../chart/colouring';
import type { CompiledBufferInfo, CompiledModuleDetail } from '../../generated/datasets_pb';
import { boxOf } from './geometry';

/** Live bytes over the program, with the peak and the chosen point. */
export function drawLive(surface: Surface, detail: CompiledModuleDetail): void {
  const { context, width, height, palette } = surface;
  const points = Math.max(1, detail.programPoints);
  const highest = Math.max(1, Number(detail.allocation?.sizeBytes ?? 0n));
  const yOf = (bytes: bigint) => height - (Number(bytes) / highest) * (height - 2);
  context.beginPath();
  context.moveTo(0, height);
  detail.columns.forEach(({ point, liveMaxBytes }, index) => {
    const end = detail.columns[index + 1]?.point ?? points;
    const y = yOf(liveMaxBytes);
    context.lineTo((point / points) * width, y);
    context.lineTo((end / points) * width, y);
  });
  context.lineTo(width, height);
  context.closePath();
  context.fillStyle = palette.inUseFill;
  context.fill();
  context.strokeStyle = palette.inUse;
  context.stroke();
  drawPoint(surface, detail);
}

/** Every buffer from its first to its last instruction, at its offset. */
export function drawBuffers(
  surface: Surface,
  detail: CompiledModuleDetail,
  colouring: Colouring<CompiledBufferInfo>,
  hovered: CompiledBufferInfo | undefined,
): void {
  const { context, width, height, palette } = surface;
  context.fillStyle = palette.hole;
  context.fillRect(0, 0, width, height);
  for (const buffer of detail.buffers) {
    const box = boxOf(buffer, detail, surface);
    context.fillStyle = colouring.colourOf(buffer);
    // A line of the background between neighbours, where there is room for one.
    context.fillRect(
      box.x,
      box.y,
      box.width > 2 ? box.width - 0.5 : box.width,
      box.height > 2 ? box.height - 0.5 : box.height,
    );
  }
  drawPoint(surface, detail);
  if (!hovered) return;
  const box = boxOf(hovered, detail, surface);
  context.strokeStyle = palette.text;
  context.lineWidth = 1.5;
  context.strokeRect(box.x, box.y, box.width, box.height);
}

function drawPoint({ context, width, height, palette }: Surface, detail: CompiledModuleDetail) {
  const x = ((detail.point + 0.5) / Math.max(1, detail.programPoints)) * width;
  context.strokeStyle = palette.moment;
  context.lineWidth = 2;
  strokeLine(context, x, 0, x, height);
}

/** Where a buffer lies in the picture: program order to the right, offsets upwards. */
import type { CompiledBufferInfo, CompiledModuleDetail } from '../../generated/datasets_pb';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function boxOf(buffer: CompiledBufferInfo, detail: CompiledModuleDetail, size: Size): Box {
  const points = Math.max(1, detail.programPoints);
  const bytes = Math.max(1, Number(detail.allocation?.sizeBytes ?? 0n));
  const height = (Number(buffer.sizeBytes) / bytes) * size.height;
  const top = (Number(buffer.offsetBytes + buffer.sizeBytes) / bytes) * size.height;
  return {
    x: (buffer.firstPoint / points) * size.width,
    y: size.height - top,
    width: Math.max(1, ((buffer.lastPoint + 1 - buffer.firstPoint) / points) * size.width),
    height: Math.max(0.5, height),
  };
}

/** The smallest buffer at a place: what lies on top of the others. */
export function bufferAt(
  detail: CompiledModuleDetail,
  x: number,
  y: number,
  size: Size,
): CompiledBufferInfo | undefined {
  let found: CompiledBufferInfo | undefined;
  for (const buffer of detail.buffers) {
    const box = boxOf(buffer, detail, size);
    if (x < box.x || x > box.x + box.width || y < box.y || y > box.y + box.height) continue;
    if (!found || buffer.sizeBytes < found.sizeBytes) found = buffer;
  }
  return found;
}

/** The program point at a place across. */
export function pointAt(detail: CompiledModuleDetail, share: number): number {
  const last = Math.max(0, detail.programPoints - 1);
  return Math.min(last, Math.max(0, Math.floor(share * detail.programPoints)));
}

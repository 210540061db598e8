import { useMemo, useState } from 'preact/hooks';
import { Canvas } from '../../chart/Canvas';
import { type ColourBy, colouringOf } from '../../chart/colouring';
import { paletteOf } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import { roleName, tensorName } from '../../format/names';
import type { CompiledBufferInfo, CompiledModuleDetail } from '../../generated/datasets_pb';
import { theme } from '../../store/theme';
import { arrowStep } from '../../ui/keys';
import { Legend } from '../../ui/Legend';
import { drawBuffers, drawLive } from './draw';
import { bufferAt, pointAt } from './geometry';

const LIVE_HEIGHT = 90;
const BUFFERS_HEIGHT = 320;

interface ProgramProps {
  readonly detail: CompiledModuleDetail;
  readonly colourBy: ColourBy;
  /** A point of the program was chosen. */
  readonly onPoint: (point: number) => void;
}

/** Live bytes over the program, and below them where each buffer lies and how long it is needed. */
export function Program({ detail, colourBy, onPoint }: ProgramProps) {
  const [hovered, setHovered] = useState<CompiledBufferInfo>();
  const [clicked, setClicked] = useState<CompiledBufferInfo>();
  const palette = paletteOf(theme.value);
  const colouring = useMemo(
    () =>
      colouringOf(
        detail.buffers,
        ({ scope, opType, dtype, role }) => ({ scope, opType, dtype, role, step: -1n }),
        () => undefined,
        ({ sizeBytes }) => sizeBytes,
        colourBy,
        palette,
      ),
    [detail, colourBy, palette],
  );
  const shown = hovered ?? clicked;
  const choose = (event: PointerEvent) => {
    const { clientWidth } = event.currentTarget as HTMLElement;
    onPoint(pointAt(detail, event.offsetX / clientWidth));
  };
  const step = (event: KeyboardEvent) => {
    const move = arrowStep(event);
    if (move === 0) return;
    onPoint(Math.min(Math.max(0, detail.point + move), detail.programPoints - 1));
  };
  return (
    <>
      <Legend label="Colors" entries={colouring.legend} />
      <Canvas
        height={LIVE_HEIGHT}
        label="Live bytes of the block over the program. Arrow keys move the point, a click chooses it."
        draw={(surface) => drawLive(surface, detail)}
        onPointerUp={choose}
        onKeyDown={step}
      />
      <Canvas
        height={BUFFERS_HEIGHT}
        label="Buffers of the block by offset, over the program. Arrow keys move the point; the table below has the buffers."
        draw={(surface) => drawBuffers(surface, detail, colouring, shown)}
        onPointerMove={(event) => {
          const { clientWidth, clientHeight } = event.currentTarget as HTMLElement;
          setHovered(
            bufferAt(detail, event.offsetX, event.offsetY, {
              width: clientWidth,
              height: clientHeight,
            }),
          );
        }}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={(event) => {
          setClicked(hovered);
          choose(event);
        }}
        onKeyDown={step}
      />
      <p class="readout" aria-live="polite">
        {shown
          ? bufferText(shown)
          : 'Point at a buffer for its op, shape and layer; click to see what is live at that point.'}
      </p>
    </>
  );
}

function bufferText(buffer: CompiledBufferInfo): string {
  return [
    buffer.opName || buffer.instruction,
    buffer.scope === '' ? '' : `layer ${buffer.scope}`,
    tensorName(buffer),
    `${formatBytes(buffer.sizeBytes)} at offset ${formatBytes(buffer.offsetBytes)}`,
    roleName(buffer.role) === 'unknown' ? '' : roleName(buffer.role),
    `needed from instruction ${buffer.firstPoint + 1} to ${buffer.lastPoint + 1}`,
    buffer.heldForBackward ? 'held for the backward pass' : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

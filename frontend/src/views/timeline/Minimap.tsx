import { useMemo, useRef } from 'preact/hooks';
import { dragBrush, type Grip, gripAt } from '../../chart/brush';
import { Canvas, type Surface } from '../../chart/Canvas';
import { onTimeKey } from '../../chart/timeKeys';
import { MEMORY_TIMELINE } from '../../data/query';
import type { Warp } from '../../data/warp';
import type { TimelineSeries } from '../../generated/datasets_pb';
import { filterOf, type Target } from '../../store/target';
import { activityOf, shownAxis, warpOf } from '../../store/timeAxis';
import { recordingLength, showRange, timeInteractions, visibleRange } from '../../store/timeWindow';
import { useDataset } from '../../store/useDataset';
import { oomMarks } from './model';

/** As the axis of the timeline, so that both have the same scale. */
const LEFT = 78;
const RIGHT = 16;
const GRIP_PIXELS = 6;
const COLUMNS = 1024;

/** The whole recording, as coarse as the minimap shows it. */
export function useOverview(target: Target) {
  return useDataset(MEMORY_TIMELINE, {
    run: target.run,
    fields: { filter: filterOf(target), columns: COLUMNS },
  });
}

/** The whole recording, with the part that the timeline shows: to be moved and stretched. */
export function Minimap({ target, height }: { readonly target: Target; readonly height: number }) {
  const drag = useRef<{ grip: Grip; start: number; brush: { from: number; to: number } }>(
    undefined,
  );
  const asked = useOverview(target);
  const series = asked.data?.series[0];
  const end = recordingLength(target);
  const axis = shownAxis(activityOf(series, target.originNs), end);
  const warp = useMemo(() => warpOf(series, target), [series, target, axis]);
  const visible = visibleRange(target);
  // All of it by the axis: what is dragged on the screen.
  const brush = { from: warp.toAxis(visible.from), to: warp.toAxis(visible.to) };

  const placeOf = (event: PointerEvent) => {
    const width = (event.currentTarget as HTMLElement).clientWidth - LEFT - RIGHT;
    return { position: ((event.offsetX - LEFT) / width) * end, perPixel: end / width };
  };
  const onPointerDown = (event: PointerEvent) => {
    const { position, perPixel } = placeOf(event);
    const grip = gripAt(position, brush, GRIP_PIXELS * perPixel);
    drag.current = { grip, start: position, brush };
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    const held = drag.current;
    if (!held) return;
    const moved = dragBrush(held.grip, held.brush, held.start, placeOf(event).position, end);
    showRange({ from: warp.toTime(moved.from), to: warp.toTime(moved.to) }, target);
  };
  return (
    <Canvas
      height={height}
      class="minimap"
      label="The whole recording, with the part that is shown. Arrow keys move it, plus and minus zoom."
      draw={(surface) => drawMinimap(surface, series, target, warp)}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onKeyDown={(event) => onTimeKey(event, visible, timeInteractions(target, warp))}
    />
  );
}

function drawMinimap(
  { context, width, height, palette }: Surface,
  series: TimelineSeries | undefined,
  target: Target,
  warp: Warp,
): void {
  const end = Math.max(1, recordingLength(target));
  const x = (ns: number) => LEFT + (warp.toAxis(ns) / end) * (width - LEFT - RIGHT);
  const brush = visibleRange(target);
  if (series) {
    const top = Math.max(1, ...series.columns.map(({ inUseMaxBytes }) => Number(inUseMaxBytes)));
    context.fillStyle = palette.inUseFill;
    context.beginPath();
    context.moveTo(LEFT, height);
    let y = height;
    for (const { timeNs, inUseMaxBytes } of series.columns) {
      const at = x(Number(timeNs - target.originNs));
      context.lineTo(at, y);
      y = height - (Number(inUseMaxBytes) / top) * (height - 4);
      context.lineTo(at, y);
    }
    context.lineTo(width - RIGHT, y);
    context.lineTo(width - RIGHT, height);
    context.fill();
    context.fillStyle = palette.oom;
    for (const { timeNs } of oomMarks(series.marks)) {
      context.fillRect(x(Number(timeNs - target.originNs)) - 1, 0, 2, height);
    }
  }
  const left = x(brush.from);
  const right = Math.max(left + 2, x(brush.to));
  context.fillStyle = palette.band;
  context.fillRect(LEFT, 0, left - LEFT, height);
  context.fillRect(right, 0, width - RIGHT - right, height);
  context.strokeStyle = palette.moment;
  context.lineWidth = 1.5;
  context.strokeRect(left, 1, right - left, height - 2);
}

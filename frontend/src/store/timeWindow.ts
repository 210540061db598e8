/** The part of the recording on screen, one for all charts over time, and how the hand moves it. */
import { PLAIN_TIME, type Warp } from '../data/warp';
import { clampRange, panRange, type Range, zoomRange } from '../data/window';
import { select, selection } from './session';
import type { Target } from './target';

/** Length of the recording in ns. */
export function recordingLength(target: Target): number {
  return Number(target.endNs - target.originNs);
}

/** What is on screen, in ns after the origin. */
export function visibleRange(target: Target): Range {
  const { window } = selection.value;
  const end = recordingLength(target);
  if (!window) return { from: 0, to: Math.max(1, end) };
  return clampRange(
    { from: Number(window.fromNs - target.originNs), to: Number(window.toNs - target.originNs) },
    end,
  );
}

/** Shows another part. Moves of the hand do not fill the back button's history. */
export function showRange(range: Range, target: Target): void {
  const end = recordingLength(target);
  const { from, to } = clampRange(range, end);
  const whole = from <= 0 && to >= end;
  select(
    {
      window: whole
        ? undefined
        : {
            fromNs: target.originNs + BigInt(Math.floor(from)),
            toNs: target.originNs + BigInt(Math.ceil(to)),
          },
    },
    'replace',
  );
}

/** What a chart over time does on drag, wheel, keys and click; moves go by the chart's axis. */
export function timeInteractions(target: Target, warp: Warp = PLAIN_TIME) {
  const visible = visibleRange(target);
  const end = recordingLength(target);
  const onAxis = { from: warp.toAxis(visible.from), to: warp.toAxis(visible.to) };
  const show = ({ from, to }: Range) =>
    showRange({ from: warp.toTime(from), to: warp.toTime(to) }, target);
  return {
    from: visible.from,
    to: visible.to,
    onPick: (time: number) =>
      select({
        at: { kind: 'time', timeNs: target.originNs + BigInt(Math.max(0, Math.round(time))) },
      }),
    onDrag: (from: number, to: number) => showRange({ from, to }, target),
    onReset: () => select({ window: undefined }),
    onZoom: (centre: number, factor: number) =>
      show(zoomRange(onAxis, warp.toAxis(centre), factor, end)),
    onPan: (share: number) => show(panRange(onAxis, share, end)),
  };
}

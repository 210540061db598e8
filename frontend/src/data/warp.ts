/** Other scales for an axis of time: time without idle, and events. */

/** A column of the whole recording: when it begins, and how much happened in it. */
export interface Activity {
  /** In ns after the origin. */
  readonly time: number;
  readonly events: number;
}

/** Part of the recording in which nothing happens, in ns after the origin. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Where the moments of a recording lie on its axis: rising, from 0..end onto 0..end. */
export interface Warp {
  readonly toAxis: (time: number) => number;
  readonly toTime: (position: number) => number;
  /** What was cut out. */
  readonly gaps: readonly Gap[];
}

export const PLAIN_TIME: Warp = {
  toAxis: (time) => time,
  toTime: (position) => position,
  gaps: [],
};

/** Shorter pauses are part of the job. */
const MIN_GAP_SHARE = 0.02;
/** What is left of a gap on the axis: enough to see that there is one. */
const LEFT_OF_GAP = 0.02;
/** An eventless column still has this part of what an average one has. */
const EVENTLESS = 0.01;

/** The stretches without an event, of at least a fiftieth of the recording. */
export function idleGaps(activity: readonly Activity[], end: number): readonly Gap[] {
  const gaps: Gap[] = [];
  let from: number | undefined;
  const close = (to: number) => {
    if (from !== undefined && to - from >= MIN_GAP_SHARE * end) gaps.push({ from, to });
    from = undefined;
  };
  for (const { time, events } of activity) {
    if (events === 0) from ??= time;
    else close(time);
  }
  close(end);
  return gaps;
}

/** The part of the recording in which nothing happens, 0..1. */
export function idleShare(activity: readonly Activity[], end: number): number {
  const idle = idleGaps(activity, end).reduce((sum, { from, to }) => sum + to - from, 0);
  return end > 0 ? idle / end : 0;
}

/** Time without idle. */
export function withoutIdle(activity: readonly Activity[], end: number): Warp {
  const gaps = idleGaps(activity, end);
  const busy = end - gaps.reduce((sum, { from, to }) => sum + to - from, 0);
  const left = Math.max(1, LEFT_OF_GAP * Math.max(busy, 1));
  const times = [0];
  const widths = [0];
  for (const { from, to } of gaps) {
    times.push(from, to);
    widths.push(from - (times.at(-3) ?? 0), left);
  }
  times.push(end);
  widths.push(end - (times.at(-2) ?? 0));
  return throughKnots(times, widths, end, gaps);
}

/** As many events to the left as the axis says: what happens quickly gets room. */
export function byEvents(activity: readonly Activity[], end: number): Warp {
  const all = activity.reduce((sum, { events }) => sum + events, 0);
  const least = (EVENTLESS * Math.max(1, all)) / Math.max(1, activity.length);
  const times = [0];
  const widths = [0];
  activity.forEach(({ events }, index) => {
    times.push(activity[index + 1]?.time ?? end);
    widths.push(Math.max(events, least));
  });
  return throughKnots(times, widths, end, []);
}

/** Straight between the knots; what lies outside of 0..end keeps its distance. */
function throughKnots(
  times: readonly number[],
  widths: readonly number[],
  end: number,
  gaps: readonly Gap[],
): Warp {
  const whole = widths.reduce((sum, width) => sum + width, 0);
  if (!(whole > 0) || !(end > 0)) return PLAIN_TIME;
  let sum = 0;
  const positions = widths.map((width) => {
    sum += width;
    return (sum / whole) * end;
  });
  return {
    toAxis: (time) => between(times, positions, time),
    toTime: (position) => between(positions, times, position),
    gaps,
  };
}

function between(xs: readonly number[], ys: readonly number[], x: number): number {
  const last = xs.length - 1;
  if (x <= 0) return x;
  if (x >= (xs[last] as number)) return (ys[last] as number) + x - (xs[last] as number);
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((xs[middle] as number) <= x) low = middle;
    else high = middle;
  }
  const [x0, x1, y0, y1] = [xs[low], xs[high], ys[low], ys[high]] as number[] as [
    number,
    number,
    number,
    number,
  ];
  return x1 > x0 ? y0 + ((x - x0) / (x1 - x0)) * (y1 - y0) : y1;
}

/** `count` moments, evenly spread over what is on screen. */
export function spreadTicks(warp: Warp, min: number, max: number, count: number): number[] {
  const from = warp.toAxis(min);
  const step = (warp.toAxis(max) - from) / Math.max(1, Math.floor(count));
  return Array.from({ length: Math.max(1, Math.floor(count)) }, (_, index) =>
    warp.toTime(from + index * step),
  );
}

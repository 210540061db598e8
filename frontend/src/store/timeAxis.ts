/** What the axis of time counts, one for all charts over time; the choice is remembered. */
import { signal } from '@preact/signals';
import {
  type Activity,
  byEvents,
  idleShare,
  PLAIN_TIME,
  type Warp,
  withoutIdle,
} from '../data/warp';
import type { TimelineSeries } from '../generated/datasets_pb';
import type { Target } from './target';
import { recordingLength } from './timeWindow';

export type AxisName = 'time' | 'busy' | 'events';

export const AXES: readonly { readonly value: AxisName; readonly label: string }[] = [
  { value: 'time', label: 'time' },
  { value: 'busy', label: 'time without idle' },
  { value: 'events', label: 'events' },
];

const KEY = 'oom-forensics.time-axis';
/** A recording that waits for longer begins with time without idle. */
const MOSTLY_IDLE = 0.3;

/** The reader's choice; undefined: none yet. */
export const chosenAxis = signal<AxisName | undefined>(remembered());

export function chooseAxis(axis: AxisName): void {
  chosenAxis.value = axis;
  try {
    localStorage.setItem(KEY, axis);
  } catch {
    // A page from a file, or a browser that stores nothing: for this visit only.
  }
}

/** The axis on screen: the chosen one, else the one that shows the job. */
export function shownAxis(activity: readonly Activity[], end: number): AxisName {
  return chosenAxis.value ?? (idleShare(activity, end) > MOSTLY_IDLE ? 'busy' : 'time');
}

export function activityOf(series: TimelineSeries | undefined, originNs: bigint): Activity[] {
  return (series?.columns ?? []).map(({ timeNs, events }) => ({
    time: Number(timeNs - originNs),
    events,
  }));
}

/** The scale of the axis on screen, from the whole recording. */
export function warpOf(overview: TimelineSeries | undefined, target: Target): Warp {
  const activity = activityOf(overview, target.originNs);
  const end = recordingLength(target);
  switch (shownAxis(activity, end)) {
    case 'busy':
      return withoutIdle(activity, end);
    case 'events':
      return byEvents(activity, end);
    default:
      return PLAIN_TIME;
  }
}

function remembered(): AxisName | undefined {
  try {
    return AXES.find(({ value }) => value === localStorage.getItem(KEY))?.value;
  } catch {
    return undefined;
  }
}

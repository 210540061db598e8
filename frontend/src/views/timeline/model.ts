/** From the dataset to arrays that can be drawn. No number is computed here, only placed. */
import {
  EventKind,
  type Mark,
  MarkKind,
  type TimelineEvent,
  type TimelineSeries,
} from '../../generated/datasets_pb';
import type { DeviceArrays } from './device';
import { lastAtOrBefore } from './search';

/** Columns of numbers, one entry per point of the x axis (ns after the origin). */
export interface TimelineArrays {
  readonly time: Float64Array;
  readonly inUseMin: Float64Array;
  readonly inUseMax: Float64Array;
  readonly requested: Float64Array;
  readonly reserved: Float64Array;
  readonly liveCount: Float64Array;
  /** One entry per point where every event is shown; undefined where columns are. */
  readonly events: readonly TimelineEvent[] | undefined;
}

/** Single events where the answer has them all, else the columns. */
export function timelineArrays(series: TimelineSeries, originNs: bigint): TimelineArrays {
  const { columns, events } = series;
  const byColumn: TimelineArrays = {
    time: Float64Array.from(columns, ({ timeNs }) => Number(timeNs - originNs)),
    inUseMin: Float64Array.from(columns, ({ inUseMinBytes }) => Number(inUseMinBytes)),
    inUseMax: Float64Array.from(columns, ({ inUseMaxBytes }) => Number(inUseMaxBytes)),
    requested: Float64Array.from(columns, ({ requestedMaxBytes }) => Number(requestedMaxBytes)),
    reserved: Float64Array.from(columns, ({ reservedMaxBytes }) => Number(reservedMaxBytes)),
    liveCount: Float64Array.from(columns, ({ liveMaxCount }) => Number(liveMaxCount)),
    events: undefined,
  };
  // Under a filter an event's in-use is the pool's, which is not what the columns show.
  if (events.length === 0 || series.filtered) return byColumn;
  const time = Float64Array.from(events, (event) => eventTime(event, originNs));
  const inUse = Float64Array.from(events, ({ inUseBytes }) => Number(inUseBytes));
  const column = Array.from(time, (moment) => lastAtOrBefore(byColumn.time, moment));
  const pick = (values: Float64Array) =>
    Float64Array.from(column, (index) => values[Math.max(0, index)] ?? 0);
  return {
    time,
    inUseMin: inUse,
    inUseMax: inUse,
    requested: pick(byColumn.requested),
    reserved: pick(byColumn.reserved),
    liveCount: pick(byColumn.liveCount),
    events,
  };
}

/** Events of one nanosecond are told apart by their picoseconds. */
function eventTime(event: TimelineEvent, originNs: bigint): number {
  return Number(event.timeNs - originNs) + Number(event.timePs % 1000n) / 1000;
}

/**
 * The top of the y axis: what is in the picture, with limit and size of the
 * device in it unless they are so far away that they would flatten all else.
 */
export function topOfAxis(series: TimelineSeries, device?: DeviceArrays): number {
  let top = 0;
  for (const column of series.columns) {
    top = Math.max(top, Number(column.inUseMaxBytes), Number(column.reservedMaxBytes));
  }
  for (const taken of device?.taken ?? []) top = Math.max(top, taken);
  if (device && device.totalBytes <= 4 * top) top = Math.max(top, device.totalBytes);
  const limit = Number(series.limitBytes);
  if (limit <= 4 * top) top = Math.max(top, limit);
  for (const mark of oomMarks(series.marks)) {
    const wanted = inUseAt(series, mark.timeNs) + Number(mark.bytes);
    if (wanted <= 2 * top) top = Math.max(top, wanted);
  }
  return Math.max(top * 1.06, 1024);
}

export function oomMarks(marks: readonly Mark[]): readonly Mark[] {
  return marks.filter(({ kind }) => kind === MarkKind.MARK_OOM);
}

/** The highest use in the column that holds a moment. */
export function inUseAt(series: TimelineSeries, timeNs: bigint): number {
  let inUse = 0n;
  for (const column of series.columns) {
    if (column.timeNs > timeNs) break;
    inUse = column.inUseMaxBytes;
  }
  return Number(inUse);
}

const EVENT_NAMES: Record<EventKind, string> = {
  [EventKind.EVENT_UNSPECIFIED]: 'event',
  [EventKind.EVENT_ALLOC]: 'allocated',
  [EventKind.EVENT_FREE]: 'freed',
  [EventKind.EVENT_FAILED]: 'failed to allocate',
  [EventKind.EVENT_REGION_ADD]: 'pool grew by',
  [EventKind.EVENT_REGION_REMOVE]: 'pool gave back',
};

export function eventName(kind: EventKind): string {
  return EVENT_NAMES[kind] ?? 'event';
}

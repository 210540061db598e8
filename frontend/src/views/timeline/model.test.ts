import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { EventKind, MarkKind, TimelineSeriesSchema } from '../../generated/datasets_pb';
import { inUseAt, timelineArrays, topOfAxis } from './model';
import { lastAtOrBefore } from './search';

const ORIGIN = 1_790_000_000_000_000_000n;
const MIB = 2 ** 20;
const mib = (count: number) => BigInt(count * MIB);

const FIELDS = {
  limitBytes: mib(256),
  columns: [
    { timeNs: ORIGIN, inUseMinBytes: mib(10), inUseMaxBytes: mib(20), reservedMaxBytes: mib(64) },
    {
      timeNs: ORIGIN + 100n,
      inUseMinBytes: mib(5),
      inUseMaxBytes: mib(90),
      reservedMaxBytes: mib(128),
    },
  ],
  marks: [{ kind: MarkKind.MARK_OOM, timeNs: ORIGIN + 150n, bytes: mib(64) }],
};
const SERIES = create(TimelineSeriesSchema, FIELDS);

describe('timelineArrays', () => {
  it('places columns relative to the origin without losing a nanosecond', () => {
    const arrays = timelineArrays(SERIES, ORIGIN);
    expect([...arrays.time]).toEqual([0, 100]);
    expect([...arrays.inUseMax]).toEqual([20 * MIB, 90 * MIB]);
    expect(arrays.events).toBeUndefined();
  });

  it('shows every event where the answer has them, in order even within a nanosecond', () => {
    const arrays = timelineArrays(
      create(TimelineSeriesSchema, {
        ...FIELDS,
        events: [
          { kind: EventKind.EVENT_ALLOC, timeNs: ORIGIN + 101n, timePs: 101_001n, inUseBytes: 7n },
          { kind: EventKind.EVENT_FREE, timeNs: ORIGIN + 101n, timePs: 101_002n, inUseBytes: 3n },
        ],
      }),
      ORIGIN,
    );
    expect([...arrays.inUseMax]).toEqual([7, 3]);
    expect(arrays.time[0]).toBeLessThan(arrays.time[1] as number);
    expect([...arrays.reserved]).toEqual([128 * MIB, 128 * MIB]);
  });

  it('keeps to the columns under a filter, whose in-use is not the pool’s', () => {
    const filtered = create(TimelineSeriesSchema, {
      ...FIELDS,
      filtered: true,
      events: [{ timeNs: ORIGIN, inUseBytes: 7n }],
    });
    expect(timelineArrays(filtered, ORIGIN).events).toBeUndefined();
  });
});

describe('topOfAxis', () => {
  it('has room for the limit and for the refused request', () => {
    expect(topOfAxis(SERIES)).toBeGreaterThanOrEqual(256 * MIB);
  });

  it('leaves out a limit that would flatten the picture', () => {
    const far = create(TimelineSeriesSchema, { ...FIELDS, limitBytes: mib(65_536), marks: [] });
    expect(topOfAxis(far)).toBeLessThan(256 * MIB);
  });
});

describe('looking up a moment', () => {
  it('finds the column that holds it', () => {
    expect(inUseAt(SERIES, ORIGIN + 99n)).toBe(20 * MIB);
    expect(inUseAt(SERIES, ORIGIN + 100n)).toBe(90 * MIB);
    expect(inUseAt(SERIES, ORIGIN - 1n)).toBe(0);
  });

  it('finds the last point at or before a time', () => {
    const sorted = Float64Array.of(10, 20, 20, 30);
    expect([5, 10, 20, 99].map((value) => lastAtOrBefore(sorted, value))).toEqual([-1, 0, 2, 3]);
  });
});

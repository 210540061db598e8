import { describe, expect, it } from 'vitest';
import { byEvents, idleGaps, idleShare, PLAIN_TIME, spreadTicks, withoutIdle } from './warp';

/** A job of 20 columns that waits in the last 80 % of them and then fails. */
const END = 1000;
const waiting = Array.from({ length: 20 }, (_, index) => ({
  time: index * 50,
  events: index < 4 ? 100 : index === 19 ? 1 : 0,
}));

describe('time without idle', () => {
  it('finds the wait', () => {
    expect(idleGaps(waiting, END)).toEqual([{ from: 200, to: 950 }]);
    expect(idleShare(waiting, END)).toBeCloseTo(0.75);
  });

  it('gives the axis to the job', () => {
    const warp = withoutIdle(waiting, END);
    expect(warp.toAxis(200)).toBeGreaterThan(0.7 * END);
    expect(warp.toAxis(950) - warp.toAxis(200)).toBeLessThan(0.03 * END);
    expect(warp.toAxis(END)).toBeCloseTo(END);
  });

  it('leads back to the time', () => {
    const warp = withoutIdle(waiting, END);
    for (const time of [0, 1, 199, 200, 500, 950, 999, END]) {
      expect(warp.toTime(warp.toAxis(time))).toBeCloseTo(time);
    }
  });

  it('is plain time where nothing waits', () => {
    const busy = waiting.map(({ time }) => ({ time, events: 5 }));
    const warp = withoutIdle(busy, END);
    expect(warp.gaps).toEqual([]);
    expect(warp.toAxis(333)).toBeCloseTo(333);
  });
});

describe('events', () => {
  it('lie evenly on the axis', () => {
    const warp = byEvents(waiting, END);
    expect(warp.toAxis(100)).toBeCloseTo(END / 2, -1);
    expect(warp.toTime(warp.toAxis(640))).toBeCloseTo(640);
  });
});

describe('ticks', () => {
  it('are spread over the axis, not over the time', () => {
    expect(spreadTicks(PLAIN_TIME, 0, 100, 4)).toEqual([0, 25, 50, 75]);
    const ticks = spreadTicks(withoutIdle(waiting, END), 0, END, 4);
    expect(ticks[2]).toBeLessThan(200);
  });
});

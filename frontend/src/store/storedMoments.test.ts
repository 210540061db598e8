import { describe, expect, it } from 'vitest';
import { nearestStored } from './storedMoments';

const STORED = [
  { at: { peak: true }, timeNs: 500n },
  { at: { oom: 0 }, timeNs: 900n },
  { at: { step: '3' }, timeNs: 300n },
  { at: { step: '9' }, timeNs: 700n },
  { at: { timeNs: '100' }, timeNs: 98n },
];

describe('nearestStored', () => {
  it('is the one nearest in time, whatever it is called', () => {
    expect(nearestStored({ kind: 'time', timeNs: 480n }, STORED)).toEqual({ kind: 'peak' });
    expect(nearestStored({ kind: 'time', timeNs: 5000n }, STORED)).toEqual({
      kind: 'oom',
      index: 0,
    });
    expect(nearestStored({ kind: 'time', timeNs: 340n }, STORED)).toEqual({
      kind: 'step',
      step: 3n,
    });
  });

  it('is found again by the time that it was asked with', () => {
    expect(nearestStored({ kind: 'time', timeNs: 100n }, STORED)).toEqual({
      kind: 'time',
      timeNs: 100n,
    });
  });

  it('of a step is another step', () => {
    expect(nearestStored({ kind: 'step', step: 7n }, STORED)).toEqual({ kind: 'step', step: 9n });
  });

  it('leaves alone what has no nearest', () => {
    const event = { kind: 'event', event: 12n } as const;
    expect(nearestStored(event, STORED)).toBe(event);
    const time = { kind: 'time', timeNs: 1n } as const;
    expect(nearestStored(time, [])).toBe(time);
  });
});

/** Which moments there are in a page without a server, and the nearest of them. */
import type { StoredMoment } from '../data/source';
import type { Moment } from './selection';

/** The stored moment to show for one that was chosen; itself where it is stored, or nothing is near. */
export function nearestStored(at: Moment, stored: readonly StoredMoment[]): Moment {
  switch (at.kind) {
    case 'time': {
      const nearest = closest(stored, ({ timeNs }) => distance(timeNs, at.timeNs));
      return nearest ? momentOf(nearest) : at;
    }
    case 'step': {
      const steps = stored.filter(({ at }) => at.step !== undefined);
      const nearest = closest(steps, (each) => distance(BigInt(each.at.step ?? 0), at.step));
      return nearest ? momentOf(nearest) : at;
    }
    default:
      return at;
  }
}

function momentOf({ at, timeNs }: StoredMoment): Moment {
  if (at.oom !== undefined) return { kind: 'oom', index: at.oom };
  if (at.peak) return { kind: 'peak' };
  if (at.end) return { kind: 'end' };
  if (at.step !== undefined) return { kind: 'step', step: BigInt(at.step) };
  if (at.event !== undefined) return { kind: 'event', event: BigInt(at.event) };
  return { kind: 'time', timeNs: at.timeNs === undefined ? timeNs : BigInt(at.timeNs) };
}

function closest<Value>(
  values: readonly Value[],
  distanceOf: (value: Value) => bigint,
): Value | undefined {
  return values.reduce<Value | undefined>(
    (best, value) => (best !== undefined && distanceOf(best) <= distanceOf(value) ? best : value),
    undefined,
  );
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

/** Choosing a part of an overview by hand. */
import { clampRange, type Range } from '../data/window';

/** What the hand has taken hold of. */
export type Grip = 'move' | 'from' | 'to' | 'new';

/** The grip at a place: near an edge that edge, between them all of it, elsewhere a new part. */
export function gripAt(time: number, brush: Range, tolerance: number): Grip {
  if (Math.abs(time - brush.from) <= tolerance) return 'from';
  if (Math.abs(time - brush.to) <= tolerance) return 'to';
  return time > brush.from && time < brush.to ? 'move' : 'new';
}

/** The part after the hand has gone from `start` to `now`. */
export function dragBrush(
  grip: Grip,
  brush: Range,
  start: number,
  now: number,
  end: number,
): Range {
  switch (grip) {
    case 'move':
      return clampRange({ from: brush.from + now - start, to: brush.to + now - start }, end);
    case 'from':
      return clampRange(ordered(now, brush.to), end);
    case 'to':
      return clampRange(ordered(brush.from, now), end);
    default:
      return clampRange(ordered(start, now), end);
  }
}

function ordered(a: number, b: number): Range {
  return a < b ? { from: a, to: b } : { from: b, to: a };
}

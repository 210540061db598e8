/**
 * Which question to ask for a part of the recording that is on screen.
 *
 * At least one column a pixel, so that no two events far apart share a column;
 * the part is padded by half of itself on both sides, and its edges lie on a
 * coarse grid of powers of two. So small moves of the hand ask the same
 * question again, and the cache answers.
 */

/** In ns after the origin of the trace. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A range cut into columns. */
export interface Columns extends Range {
  readonly columns: number;
}

const MAX_COLUMNS = 8192;

/** Narrower makes no sense: the clock ticks in ns. */
export const NARROWEST_NS = 16;

/** The columns to ask for when `visible`, a part of 0..`end`, fills `pixels`. */
export function columnsFor(visible: Range, end: number, pixels: number): Columns {
  const span = Math.max(visible.to - visible.from, NARROWEST_NS);
  const grid = 2 ** Math.floor(Math.log2(span / 4));
  const first = Math.max(0, Math.floor((visible.from - span / 2) / grid));
  const last = Math.max(first + 1, Math.ceil(Math.min(end + 1, visible.to + span / 2) / grid));
  const from = first * grid;
  const to = last * grid;
  const finest = 2 ** Math.max(0, Math.floor(Math.log2(span / Math.max(1, pixels))));
  const coarsest = 2 ** Math.ceil(Math.log2((to - from) / MAX_COLUMNS));
  const width = Math.max(finest, coarsest);
  return { from, to, columns: Math.ceil((to - from) / width) };
}

/** `range` moved and cut so that it lies within 0..`end` and is not too narrow. */
export function clampRange(range: Range, end: number): Range {
  const span = Math.min(Math.max(range.to - range.from, NARROWEST_NS), Math.max(end, NARROWEST_NS));
  const from = Math.min(Math.max(0, range.from), Math.max(0, end - span));
  return { from, to: from + span };
}

/** Zooms by `factor` (below 1: closer) around `centre`, which stays where it is. */
export function zoomRange(range: Range, centre: number, factor: number, end: number): Range {
  const from = centre - (centre - range.from) * factor;
  const to = centre + (range.to - centre) * factor;
  if (to - from < NARROWEST_NS) {
    return clampRange({ from: centre - NARROWEST_NS / 2, to: centre + NARROWEST_NS / 2 }, end);
  }
  return clampRange({ from, to }, end);
}

/** Moves by a share of what is on screen; positive: later. */
export function panRange(range: Range, share: number, end: number): Range {
  const shift = (range.to - range.from) * share;
  return clampRange({ from: range.from + shift, to: range.to + shift }, end);
}

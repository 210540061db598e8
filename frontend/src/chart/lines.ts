/** From columns of an answer to lines over time. No number is computed here, only placed. */
import type { Line } from './TimeChart';

export interface ValueLine<Column> extends Line {
  readonly value: (column: Column) => bigint | number;
  /** An area on top of the stacked ones that come later. */
  readonly stacked?: boolean;
}

/** Time (ns after the origin), then the height of each line: of a stacked one with what lies below it. */
export function lineArrays<Column extends { readonly timeNs: bigint }>(
  columns: readonly Column[],
  lines: readonly ValueLine<Column>[],
  originNs: bigint,
): readonly Float64Array[] {
  const heights = lines.map(({ value }) =>
    Float64Array.from(columns, (column) => Number(value(column))),
  );
  const below = new Float64Array(columns.length);
  for (let line = lines.length - 1; line >= 0; line -= 1) {
    if (!lines[line]?.stacked) continue;
    heights[line] = below.map((sum, at) => sum + (heights[line]?.[at] ?? 0));
    below.set(heights[line] as Float64Array);
  }
  return [Float64Array.from(columns, ({ timeNs }) => Number(timeNs - originNs)), ...heights];
}

/** The highest of all lines. */
export function highest([, ...heights]: readonly Float64Array[]): number {
  return heights.reduce(
    (most, line) => line.reduce((top, value) => Math.max(top, value), most),
    1024,
  );
}

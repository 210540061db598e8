/** Which steps stand side by side, and their sites in one table. */
import type { Compare } from '../../generated/datasets_pb';

/** More columns are not read side by side. */
export const MOST_CHOSEN = 5;

/** The powers of ten among the steps, and the last one: early, settled, late. */
export function defaultSteps(all: readonly bigint[]): readonly bigint[] {
  const last = all.at(-1);
  if (last === undefined) return [];
  const powers = all.filter((step) => /^10*$/.test(String(step)));
  const chosen = [...new Set([...powers, last])].slice(-MOST_CHOSEN);
  return chosen.length > 1 ? chosen : [...new Set([all[0] as bigint, last])];
}

/** "1, 10 100": the steps that there are, in order; undefined where none is left to compare. */
export function parseSteps(text: string, all: readonly bigint[]): readonly bigint[] | undefined {
  const wanted = new Set(text.match(/\d{1,18}/g)?.map(BigInt));
  const found = all.filter((step) => wanted.has(step)).slice(0, MOST_CHOSEN);
  return found.length > 1 ? found : undefined;
}

/** A site with what it held at each of the chosen steps. */
export interface SiteRow {
  readonly key: string;
  readonly bytes: readonly bigint[];
  /** The last step less the first. */
  readonly grewBytes: bigint;
}

/** Rows from comparisons of the first step with each later one; the largest change first. */
export function siteRows(comparisons: readonly Compare[]): readonly SiteRow[] {
  const columns = comparisons.length + 1;
  const bySite = new Map<string, bigint[]>();
  comparisons.forEach(({ rows }, comparison) => {
    for (const { key, beforeBytes, afterBytes } of rows) {
      const bytes = bySite.get(key) ?? new Array<bigint>(columns).fill(0n);
      bytes[0] = beforeBytes;
      bytes[comparison + 1] = afterBytes;
      bySite.set(key, bytes);
    }
  });
  return [...bySite]
    .map(([key, bytes]) => ({
      key,
      bytes,
      grewBytes: (bytes.at(-1) ?? 0n) - (bytes[0] ?? 0n),
    }))
    .toSorted((a, b) => Number(magnitude(b.grewBytes) - magnitude(a.grewBytes)));
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

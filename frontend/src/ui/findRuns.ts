/** Searching a list of runs that is too long to be read. */

/** So many are listed at a time; a browser is slow with thousands of options. */
export const LISTED = 100;

export interface FoundRuns {
  /** The first of them, and the chosen one. */
  readonly listed: readonly string[];
  /** How many there are in all. */
  readonly found: number;
}

/** The runs whose names hold every word of `search`, whatever its case; `chosen` is listed always. */
export function findRuns(runs: readonly string[], search: string, chosen: string): FoundRuns {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = runs.filter((run) => {
    const name = run.toLowerCase();
    return run === chosen || words.every((word) => name.includes(word));
  });
  const listed = matching.slice(0, LISTED);
  if (!listed.includes(chosen) && matching.includes(chosen)) listed[LISTED - 1] = chosen;
  return { listed, found: matching.length };
}

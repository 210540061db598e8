/** Incidents by day, as bars stacked by verdict. */
import type { DayRow } from './answers';

export interface DayBar {
  readonly day: string;
  readonly total: number;
  /** In the order of `Days.verdicts`. */
  readonly counts: readonly number[];
}

export interface Days {
  /** The most frequent first. */
  readonly verdicts: readonly string[];
  readonly bars: readonly DayBar[];
  /** Of the highest bar. */
  readonly most: number;
}

const DAY_MS = 86_400_000;
/** Days without an incident are bars too, unless there are more of them than a page can show. */
const MOST_DAYS = 400;

/** The bars of all days from the first to the last one with an incident. */
export function daysOf(rows: readonly DayRow[]): Days {
  const totals = new Map<string, number>();
  const byDay = new Map<string, Map<string, number>>();
  for (const { day, verdict, incidents } of rows) {
    totals.set(verdict, (totals.get(verdict) ?? 0) + incidents);
    const counts = byDay.get(day) ?? new Map<string, number>();
    byDay.set(day, counts.set(verdict, incidents));
  }
  const verdicts = [...totals].sort((a, b) => b[1] - a[1]).map(([verdict]) => verdict);
  const bars = allDays([...byDay.keys()].sort()).map((day) => {
    const counts = verdicts.map((verdict) => byDay.get(day)?.get(verdict) ?? 0);
    return { day, counts, total: counts.reduce((sum, count) => sum + count, 0) };
  });
  return { verdicts, bars, most: Math.max(0, ...bars.map(({ total }) => total)) };
}

function allDays(withIncidents: readonly string[]): readonly string[] {
  const first = Date.parse(withIncidents[0] ?? '');
  const last = Date.parse(withIncidents.at(-1) ?? '');
  const count = (last - first) / DAY_MS + 1;
  if (!(count <= MOST_DAYS)) return withIncidents;
  return Array.from({ length: count }, (_, index) =>
    new Date(first + index * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Times as people read them. A moment is shown relative to the start of its trace. */

const UNITS: readonly (readonly [size: number, name: string])[] = [
  [3_600e9, 'h'],
  [60e9, 'min'],
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

/** "1.24 ms"; takes nanoseconds. */
export function formatDuration(ns: bigint | number): string {
  const value = Number(ns);
  if (value === 0) return '0 s';
  const magnitude = Math.abs(value);
  const [size, name] = UNITS.find(([unit]) => magnitude >= unit) ?? [1, 'ns'];
  const scaled = value / size;
  const digits = Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2;
  return `${scaled.toFixed(size === 1 ? 0 : digits)} ${name}`;
}

/** A moment `ns` after the start of the trace with as many digits as tell `resolutionNs` apart. */
export function formatMoment(ns: number, resolutionNs = 1e6): string {
  const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(1, resolutionNs)))));
  const seconds = ns / 1e9;
  if (Math.abs(seconds) < 60) return `${seconds.toFixed(digits)} s`;
  const minutes = Math.trunc(seconds / 60);
  const rest = Math.abs(seconds - minutes * 60)
    .toFixed(digits)
    .padStart(digits === 0 ? 2 : digits + 3, '0');
  return minutes < 60
    ? `${minutes}:${rest} min`
    : `${Math.trunc(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest} h`;
}

/** The wall-clock time of `epochNs` in the reader's own time zone. */
export function formatWallClock(epochNs: bigint): string {
  const date = new Date(Number(epochNs / 1_000_000n));
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString(undefined, { hour12: false });
}

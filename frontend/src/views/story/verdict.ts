/** Short names of the verdicts. The sentence itself comes from the dataset. */

const TITLES: Readonly<Record<string, string>> = {
  CAPACITY: 'Too little memory',
  FRAGMENTATION: 'Fragmentation',
  GROWTH_REGIONS: 'Fragmentation across regions',
  LIMIT: 'Limit too low',
  EXTERNAL: 'Device held by others',
  OUTSIDE_POOL: 'Memory outside the pool',
  LEAK_LIKE: 'Looks like a leak',
  RETAINED: 'Held from earlier',
  TRANSIENT_PEAK: 'Short-lived peak',
  HOST_KILLED: 'Too little memory of the host',
  HOST_GROWTH: 'Grows without end',
  HOST_DATA_SET: 'Data set in memory',
  NOT_MEMORY: 'Not for want of memory',
};

/** A verdict of a newer converter is shown by its own name. */
export function verdictTitle(kind: string): string {
  if (kind === '' || kind === 'UNKNOWN') return 'Cause unknown';
  return TITLES[kind] ?? kind.toLowerCase().replaceAll('_', ' ');
}

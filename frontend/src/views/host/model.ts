import type { HostMemorySeries } from '../../generated/datasets_pb';

/** What the parts of a process's memory are, by their stable names. */
export const PART_NAMES: Readonly<Record<string, string>> = {
  tensors: "tensors of TensorFlow's default allocator",
  pools: "TensorFlow's pools on the CPU",
  native: 'blocks of NumPy and other libraries',
  python: "Python's objects",
  malloc_other: 'other blocks of malloc',
  malloc_free: 'freed, and held by malloc',
  unexplained: 'not explained',
  files: 'files that are mapped, libraries among them',
  shared: 'shared memory',
};

export interface Stack {
  /** Indices of the parts that are ever more than 0, from the ground up. */
  readonly parts: readonly number[];
  /** Time; then, from the top down, the sums of each part and those below it; then what is used. */
  readonly arrays: readonly Float64Array[];
  /** The highest value of all. */
  readonly top: number;
}

/** The parts of a process's memory as areas on top of each other. */
export function stackOf(series: HostMemorySeries, originNs: bigint): Stack {
  const { columns } = series;
  const parts = series.parts
    .map((_, part) => part)
    .filter((part) => columns.some(({ partBytes }) => (partBytes[part] ?? 0n) > 0n));
  const sums = parts.map(() => new Float64Array(columns.length));
  columns.forEach(({ partBytes }, column) => {
    let sum = 0;
    parts.forEach((part, place) => {
      sum += Number(partBytes[part] ?? 0n);
      (sums[place] as Float64Array)[column] = sum;
    });
  });
  const used = Float64Array.from(columns, ({ usedBytes }) => Number(usedBytes));
  const highest = [...sums.slice(-1), used].reduce(
    (most, line) => line.reduce((top, value) => Math.max(top, value), most),
    Number(series.limitBytes),
  );
  return {
    parts,
    arrays: [
      Float64Array.from(columns, ({ timeNs }) => Number(timeNs - originNs)),
      ...sums.reverse(),
      used,
    ],
    top: Math.max(1024, highest) * 1.06,
  };
}

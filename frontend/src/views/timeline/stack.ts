/** Who held the memory over time, as areas on top of one another. */
import type { TimelineSeries } from '../../generated/datasets_pb';
import { lastAtOrBefore } from './search';

export interface Stack {
  readonly keys: readonly string[];
  /** Upper edge of each area at each point: the first lies on the ground. */
  readonly edges: readonly Float64Array[];
}

/** The contributors at each time of `time`, which need not be the columns' own. */
export function stackOf(series: TimelineSeries, originNs: bigint, time: Float64Array): Stack {
  const keys = series.contributors.map(({ key }) => key);
  const columnTimes = Float64Array.from(series.columns, ({ timeNs }) => Number(timeNs - originNs));
  const edges = keys.map(() => new Float64Array(time.length));
  time.forEach((moment, point) => {
    const column = series.columns[Math.max(0, lastAtOrBefore(columnTimes, moment))];
    let sum = 0;
    edges.forEach((edge, contributor) => {
      sum += Number(column?.contributorBytes[contributor] ?? 0n);
      edge[point] = sum;
    });
  });
  return { keys, edges };
}

/** The measures of fragmentation with their definitions, and the bins that are shown. */
import type { Bin, FragmentationColumn, FragmentationMeasures } from '../../generated/datasets_pb';

/** The request that the series measures against; 0 where there was none. */
export function requestOf(columns: readonly FragmentationColumn[]): bigint {
  return columns.find(({ worst }) => worst)?.worst?.unusableFreeRequestBytes ?? 0n;
}

export interface Measure {
  readonly name: string;
  readonly help: string;
  readonly value: (measures: FragmentationMeasures) => number;
}

/** The measures are different things: each has its name and says what it divides by what. */
export const MEASURES: readonly Measure[] = [
  {
    name: "BFC's fragmentation",
    help: 'The share of the free bytes of the pool that is not in its largest hole: (free − largest hole) / free. This is what TensorFlow itself reports.',
    value: ({ bfcFragmentation }) => bfcFragmentation,
  },
  {
    name: 'Unusable for the request',
    help: 'The share of the free bytes that lies in holes smaller than the request (Gorman and Whitcroft). At 100 % the request cannot be served without growing.',
    value: ({ unusableFree }) => unusableFree,
  },
  {
    name: 'Reserve waste',
    help: 'The share of what the pool has taken from the device that nobody uses: 1 − in use / reserved.',
    value: ({ reserveWaste }) => reserveWaste,
  },
];

/** The bins that hold anything, with that of a request (0n: none), and the most bytes that one of them holds. */
export function usedBins(
  bins: readonly Bin[],
  requestBytes: bigint,
): {
  readonly bins: readonly Bin[];
  readonly most: number;
} {
  const filled = bins.filter(
    (bin, place) =>
      bin.freeBytes + bin.usedBytes > 0n ||
      (requestBytes > 0n && binHolds(bin, bins[place + 1], requestBytes)),
  );
  const first = filled[0]?.index ?? 0;
  const last = filled.at(-1)?.index ?? -1;
  const shown = bins.filter(({ index }) => index >= first && index <= last);
  const most = Math.max(
    1,
    ...shown.map(({ freeBytes, usedBytes }) => Math.max(Number(freeBytes), Number(usedBytes))),
  );
  return { bins: shown, most };
}

/** Whether a request falls into a bin: it is searched for from there upwards. */
export function binHolds(bin: Bin, next: Bin | undefined, requestBytes: bigint): boolean {
  return requestBytes >= bin.minBytes && (!next || requestBytes < next.minBytes);
}

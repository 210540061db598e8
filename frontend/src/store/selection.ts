/** What the reader has chosen: one value, shared by all views and kept in the page's address. */
import { GroupBy, Role } from '../generated/datasets_pb';

/** The moment that map and live set show. */
export type Moment =
  | { readonly kind: 'default' } // the first OOM, else the peak
  | { readonly kind: 'oom'; readonly index: number }
  | { readonly kind: 'peak' }
  | { readonly kind: 'end' }
  | { readonly kind: 'time'; readonly timeNs: bigint }
  | { readonly kind: 'event'; readonly event: bigint }
  | { readonly kind: 'step'; readonly step: bigint }; // its peak

/** The part of the recording that the timeline shows, in ns since the epoch. */
export interface TimeWindow {
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

/** Which allocations count. */
export interface FilterChoice {
  readonly search: string;
  readonly minBytes: bigint;
  readonly scope: string;
  readonly dtype: string;
  readonly role: Role;
  /** A line of the user's program; empty and 0: any. */
  readonly file: string;
  readonly line: number;
  readonly codeFunction: string;
  /** What XLA allocated is kept whole, not opened into its buffers. */
  readonly wholeBlocks: boolean;
}

export const VIEWS = [
  'map',
  'history',
  'holders',
  'live',
  'fragmentation',
  'window',
  'forecast',
  'what-if',
  'leaks',
  'steps',
  'compare',
  'compiled',
  'driver',
  'host',
  'allocators',
  'quality',
] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Selection {
  /** Empty: the newest run. */
  readonly run: string;
  /** Empty: the one closest to its limit. */
  readonly host: string;
  readonly allocator: string;
  readonly view: ViewName;
  readonly at: Moment;
  /** Undefined: the whole recording. */
  readonly window: TimeWindow | undefined;
  readonly filter: FilterChoice;
  /** How the holders are summed up. */
  readonly groupBy: GroupBy;
  /** What the timeline is stacked by; GROUP_NONE: not at all. */
  readonly stackBy: GroupBy;
  /** COMPARE: the other run (empty: the same) and its moment (default: its start). */
  readonly otherRun: string;
  readonly otherAt: Moment;
  /** COMPARE: the other's host and allocator; empty: as here, where it has them. */
  readonly otherHost: string;
  readonly otherAllocator: string;
  /** The training steps side by side; empty: an early, a settled and a late one. */
  readonly steps: readonly bigint[];
  /** Allocation.id of the one whose life is shown. */
  readonly allocation: bigint | undefined;
}

export const NO_FILTER: FilterChoice = {
  search: '',
  minBytes: 0n,
  scope: '',
  dtype: '',
  role: Role.UNKNOWN,
  file: '',
  line: 0,
  codeFunction: '',
  wholeBlocks: false,
};

/** Whether all allocations count, compiled blocks whole or opened. */
export function isUnfiltered(filter: FilterChoice): boolean {
  return Object.entries({ ...filter, wholeBlocks: NO_FILTER.wholeBlocks }).every(
    ([name, value]) => value === NO_FILTER[name as keyof FilterChoice],
  );
}

export const NOTHING_CHOSEN: Selection = {
  run: '',
  host: '',
  allocator: '',
  view: 'map',
  at: { kind: 'default' },
  window: undefined,
  filter: NO_FILTER,
  groupBy: GroupBy.GROUP_SCOPE,
  stackBy: GroupBy.GROUP_NONE,
  otherRun: '',
  otherAt: { kind: 'default' },
  otherHost: '',
  otherAllocator: '',
  steps: [],
  allocation: undefined,
};

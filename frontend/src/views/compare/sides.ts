/** The two sides of a comparison: the moment shown, and the one that it is compared with. */
import { INFO } from '../../data/query';
import { GroupBy, type HostInfo } from '../../generated/datasets_pb';
import { type ChosenMoment, momentQuery, shownMoment, shownMomentQuery } from '../../store/moment';
import { NOTHING_CHOSEN } from '../../store/selection';
import { select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { type Ask, useDataset } from '../../store/useDataset';

const MOST_ROWS = 500;

/** Makes a moment of the allocator on screen the base of the comparison. */
export function compareFrom(at: ChosenMoment): void {
  select({ otherRun: '', otherHost: '', otherAllocator: '', otherAt: at, view: 'compare' });
}

/** Exchanges the two moments of one allocator. */
export function swapSides(target: Target): void {
  select({ at: otherMoment(), otherAt: shownMoment(target) });
}

/** The other side is of another run. */
export function isElsewhere(target: Target): boolean {
  const { otherRun } = selection.value;
  return otherRun !== '' && otherRun !== target.run;
}

/** Both sides are moments of one allocator. */
export function isSameAllocator(target: Target): boolean {
  const { otherHost, otherAllocator } = selection.value;
  return (
    !isElsewhere(target) &&
    (otherHost === '' || otherHost === target.host.host) &&
    (otherAllocator === '' || otherAllocator === target.allocator.allocator)
  );
}

/** The moment that is compared with: the start until another is chosen. */
export function otherMoment(): ChosenMoment {
  const { otherAt } = selection.value;
  return otherAt.kind === 'default' ? { kind: 'event', event: -1n } : otherAt;
}

/** Within a run the story goes from the other moment to the one shown; else from here to there. */
export function comparison(target: Target): Ask | undefined {
  const { otherRun, otherHost, otherAllocator, groupBy, filter } = selection.value;
  const shown = shownMomentQuery(target);
  const other = momentQuery(otherMoment());
  if (!shown) return undefined;
  const here = { host: target.host.host, allocator: target.allocator.allocator };
  const there = {
    host: otherHost || (isElsewhere(target) ? '' : here.host),
    allocator: otherAllocator || (isElsewhere(target) ? '' : here.allocator),
  };
  const [first, second] = isElsewhere(target) ? [here, there] : [there, here];
  return {
    run: target.run,
    otherRun: otherRun === target.run ? '' : otherRun,
    fields: {
      filter: { ...filterOf(target, filter), ...first },
      ...(isElsewhere(target) ? { at: shown, other } : { at: other, other: shown }),
      otherHost: second.host,
      otherAllocator: second.allocator,
      groupBy: comparedBy(groupBy),
      limit: MOST_ROWS,
    },
  };
}

/** What rows stand for: a tree of scopes is no table, so its leaves are compared. */
export function comparedBy(groupBy: GroupBy): GroupBy {
  return groupBy === GroupBy.GROUP_SCOPE ? GroupBy.GROUP_SITE : groupBy;
}

export interface OtherSide {
  /** All that may be compared with, of the other run. */
  readonly allocators: readonly { readonly host: string; readonly allocator: string }[];
  readonly host: string;
  readonly allocator: string;
  readonly steps: Pick<HostInfo, 'hasSteps' | 'firstStep' | 'lastStep'> | undefined;
}

/** Which allocator the other side is, and what else it might be. */
export function useOtherSide(target: Target): OtherSide {
  const { otherRun, otherHost, otherAllocator } = selection.value;
  const { data } = useDataset(INFO, { run: otherRun || target.run, fields: {} });
  const hosts = data?.hosts ?? [];
  const allocators = hosts.flatMap(({ host, allocators }) =>
    allocators.map(({ allocator }) => ({ host, allocator })),
  );
  const byDefault = isElsewhere(target)
    ? allocators[0]
    : { host: target.host.host, allocator: target.allocator.allocator };
  const host = otherHost || byDefault?.host || '';
  return {
    allocators,
    host,
    allocator: otherAllocator || byDefault?.allocator || '',
    steps: hosts.find((each) => each.host === host),
  };
}

/** Compares with another run, at its peak, or with another moment of this one. */
export function chooseRun(run: string, target: Target): void {
  const here = run === target.run;
  select({
    otherRun: here ? '' : run,
    otherHost: '',
    otherAllocator: '',
    otherAt: here ? NOTHING_CHOSEN.otherAt : { kind: 'peak' },
  });
}

/** Compares with another allocator. Events are counted by each allocator for itself. */
export function chooseAllocator(otherHost: string, otherAllocator: string): void {
  const { otherAt } = selection.value;
  select({
    otherHost,
    otherAllocator,
    otherAt: otherAt.kind === 'event' ? NOTHING_CHOSEN.otherAt : otherAt,
  });
}

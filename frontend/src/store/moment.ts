/** The moment on screen: which it is, when it is, and how it is called and asked for. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { formatMoment } from '../format/time';
import type { MomentSchema, Oom } from '../generated/datasets_pb';
import { encodeMoment } from './link';
import type { Moment } from './selection';
import { oomWindow, selection, targetName } from './session';
import { stepPeakNs } from './stepPeak';
import { relativeNs, type Target } from './target';

export type ChosenMoment = Exclude<Moment, { readonly kind: 'default' }>;

/** The OOMs of the target; empty while they are being read. */
export function oomsOf(target: Target): readonly Oom[] {
  const known = oomWindow.value;
  return known.state === 'ready' && known.target === targetName(target) ? known.value.ooms : [];
}

/** The chosen moment, or the default: the allocator's first OOM, else its peak. */
export function shownMoment(target: Target): ChosenMoment {
  const { at } = selection.value;
  if (at.kind !== 'default') return at;
  const first = oomsOf(target)[0];
  return first ? { kind: 'oom', index: first.index } : { kind: 'peak' };
}

/** Undefined while the default is not known: the OOMs are still being read. */
export function shownMomentQuery(
  target: Target,
): MessageInitShape<typeof MomentSchema> | undefined {
  if (selection.value.at.kind === 'default' && oomWindow.value.state === 'loading') {
    return undefined;
  }
  return momentQuery(shownMoment(target));
}

/** A moment as a query has it. */
export function momentQuery(at: ChosenMoment): MessageInitShape<typeof MomentSchema> {
  switch (at.kind) {
    case 'oom':
      return { at: { case: 'oom', value: at.index } };
    case 'peak':
      return { at: { case: 'peak', value: true } };
    case 'end':
      return { at: { case: 'end', value: true } };
    case 'time':
      return { at: { case: 'timeNs', value: at.timeNs } };
    case 'step':
      return { at: { case: 'step', value: at.step } };
    default:
      return { at: { case: 'event', value: at.event } };
  }
}

/** The OOM at whose moment, or among whose last events, the shown moment is. */
export function shownOom(target: Target): Oom | undefined {
  const at = shownMoment(target);
  return oomsOf(target).find(
    ({ index, recent }) =>
      (at.kind === 'oom' && at.index === index) ||
      (at.kind === 'event' && recent.some((event) => event.index === at.event)),
  );
}

/** When a moment is, in ns since the epoch; undefined where only the converter knows. */
export function momentTimeNs(at: ChosenMoment, target: Target): bigint | undefined {
  switch (at.kind) {
    case 'time':
      return at.timeNs;
    case 'peak':
      return target.allocator.peakNs;
    case 'end':
      return target.allocator.lastNs;
    case 'oom':
      return oomsOf(target).find(({ index }) => index === at.index)?.timeNs;
    case 'step':
      return stepPeakNs(target, at.step);
    default:
      return eventTimeNs(at.event, target);
  }
}

/** Events that are stepped through are those before an OOM, whose times are known. */
function eventTimeNs(event: bigint, target: Target): bigint | undefined {
  for (const { recent } of oomsOf(target)) {
    const found = recent.find(({ index }) => index === event);
    if (found) return found.timeNs;
  }
  return undefined;
}

/** "just before the OOM", "the moment of highest use", "the peak of step 12", "3.214 s after the start". */
export function momentName(at: ChosenMoment, target: Target): string {
  switch (at.kind) {
    case 'oom': {
      const ooms = oomsOf(target);
      const place = ooms.findIndex(({ index }) => index === at.index);
      return ooms.length > 1 ? `just before OOM ${place + 1}` : 'just before the OOM';
    }
    case 'peak':
      return 'the moment of highest use';
    case 'end':
      return 'the end of the recording';
    case 'event':
      return at.event < 0n ? 'the start of the recording' : `after event ${at.event}`;
    case 'step':
      return `the peak of step ${at.step}`;
    default:
      return `${formatMoment(relativeNs(target, at.timeNs), 1e3)} after the start`;
  }
}

export function sameMoment(a: ChosenMoment, b: ChosenMoment): boolean {
  return encodeMoment(a) === encodeMoment(b);
}

/** The step that ran out of memory. */
import type { Range } from '../../data/window';
import { MarkKind, type StepMark, type TimelineSeries } from '../../generated/datasets_pb';

/** Without steps, so much of the recording before the failure is shown. */
const SHARE_WITHOUT_STEPS = 0.1;

/** The step in which the first OOM was; undefined: no OOM, or outside of any step. */
export function failingStep(series: TimelineSeries): StepMark | undefined {
  const oom = series.marks.find(({ kind }) => kind === MarkKind.MARK_OOM);
  return (
    oom && series.steps.find(({ beginNs, endNs }) => beginNs <= oom.timeNs && oom.timeNs <= endNs)
  );
}

/** What to show of it, in ns after the origin, with a little before and after. */
export function failingRange(series: TimelineSeries, originNs: bigint): Range | undefined {
  const oom = series.marks.find(({ kind }) => kind === MarkKind.MARK_OOM);
  if (!oom) return undefined;
  const to = Number(oom.timeNs - originNs);
  const step = failingStep(series);
  const from = step ? Number(step.beginNs - originNs) : to * (1 - SHARE_WITHOUT_STEPS);
  const margin = (to - from) * 0.02;
  return { from: from - margin, to: to + margin };
}

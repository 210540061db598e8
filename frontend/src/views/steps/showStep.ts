import type { StepUse } from '../../generated/datasets_pb';
import { select } from '../../store/session';

/** Shows a step in the timeline, and the moment of its peak in all other views. */
export function showStep({ step }: StepUse): void {
  if (!step) return;
  const margin = (step.endNs - step.beginNs) / 10n + 1n;
  select({
    window: { fromNs: step.beginNs - margin, toNs: step.endNs + margin },
    at: { kind: 'step', step: step.step },
  });
}

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

/** A step in pixels; heights from the bottom. */
export interface StepBar {
  readonly index: number;
  readonly x: number;
  readonly width: number;
  readonly peak: number;
  readonly end: number;
}

/** One bar per step; where there is less than a pixel for each, the highest of those it covers. */
export function stepBars(steps: readonly StepUse[], width: number, height: number): StepBar[] {
  const most = Math.max(1, ...steps.map(({ peak }) => Number(peak?.inUseBytes ?? 0n)));
  const slots = Math.max(1, Math.min(steps.length, Math.floor(width)));
  const slot = width / Math.max(1, slots);
  const gap = slot > 4 ? 1 : 0;
  const bars: StepBar[] = [];
  for (let index = 0; index < slots && steps.length > 0; index += 1) {
    const first = Math.floor((index * steps.length) / slots);
    const covered = steps.slice(
      first,
      Math.max(first + 1, Math.floor(((index + 1) * steps.length) / slots)),
    );
    const highest = (value: (use: StepUse) => bigint) =>
      (Math.max(...covered.map((use) => Number(value(use)))) / most) * (height - 4);
    bars.push({
      index: first,
      x: index * slot,
      width: slot - gap,
      peak: highest(({ peak }) => peak?.inUseBytes ?? 0n),
      end: highest(({ endInUseBytes }) => endInUseBytes),
    });
  }
  return bars;
}

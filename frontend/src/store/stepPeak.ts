/** When the training step had its peak that is chosen as the moment: only the converter knows. */
import { signal } from '@preact/signals';
import { questionOf } from '../data/client';
import { STEPS } from '../data/query';
import type { StepUse } from '../generated/datasets_pb';
import { client, targetName } from './session';
import { filterOf, type Target } from './target';

interface StepPeak {
  readonly target: string;
  readonly step: bigint;
  readonly timeNs: bigint;
}

const known = signal<StepPeak | undefined>(undefined);

/** In ns since the epoch; undefined until it has been looked up. */
export function stepPeakNs(target: Target, step: bigint): bigint | undefined {
  const peak = known.value;
  return peak?.step === step && peak.target === targetName(target) ? peak.timeNs : undefined;
}

/** Looks up the peak of a step. A step that is not there is said by the views that ask for it. */
export async function loadStepPeak(
  target: Target,
  step: bigint,
  abort: AbortSignal,
): Promise<void> {
  const question = questionOf(STEPS, target.run, {
    filter: { ...filterOf(target), fromStep: step, toStep: step },
  });
  try {
    const peak = highestPeak((await client().ask(STEPS, question, abort)).steps, step);
    if (peak) known.value = { target: targetName(target), step, timeNs: peak.timeNs };
  } catch {
    // Without its time the moment is only not marked in the timeline.
  }
}

/** The highest peak of all steps with this number: a program that trains twice counts twice. */
export function highestPeak(steps: readonly StepUse[], number: bigint) {
  return steps
    .filter(({ step }) => step?.step === number)
    .flatMap(({ peak }) => peak ?? [])
    .reduce<StepUse['peak']>(
      (highest, peak) => (highest && highest.inUseBytes >= peak.inUseBytes ? highest : peak),
      undefined,
    );
}

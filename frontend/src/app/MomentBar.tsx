import { missingViews } from '../store/missingViews';
import { type ChosenMoment, momentName, oomsOf, sameMoment, shownMoment } from '../store/moment';
import { select } from '../store/session';
import type { Target } from '../store/target';
import { StepField } from '../ui/StepField';
import { compareFrom } from '../views/compare/sides';

const MOST_OOMS = 4;

/** Says which moment the detail views show, and offers the ones that people ask for. */
export function MomentBar({ target }: { readonly target: Target }) {
  const at = shownMoment(target);
  const ooms = oomsOf(target);
  const { hasSteps, firstStep, lastStep } = target.host;
  const shortcuts: { readonly label: string; readonly moment: ChosenMoment }[] = [
    ...ooms.slice(0, MOST_OOMS).map(({ index }, place) => ({
      label: ooms.length === 1 ? 'At the OOM' : `At OOM ${place + 1}`,
      moment: { kind: 'oom', index } as const,
    })),
    { label: 'At the peak', moment: { kind: 'peak' } },
    { label: 'At the end', moment: { kind: 'end' } },
  ];
  return (
    <div class="moment-bar">
      <span>
        Shown: <strong>{momentName(at, target)}</strong>
      </span>
      <fieldset class="moment-choices">
        <legend class="visually-hidden">Moment</legend>
        {shortcuts.map(({ label, moment }) => (
          <button
            key={label}
            type="button"
            class="chip"
            aria-pressed={sameMoment(moment, at)}
            onClick={() => select({ at: moment })}
          >
            {label}
          </button>
        ))}
        {hasSteps && (
          <StepField
            label="At the peak of step"
            value={at.kind === 'step' ? at.step : undefined}
            first={firstStep}
            last={lastStep}
            onChange={(step) => select({ at: { kind: 'step', step } })}
          />
        )}
      </fieldset>
      <span class="hint">or click into the timeline</span>
      {!missingViews.value.has('compare') && (
        <button
          type="button"
          class="button"
          title="Makes this moment the one that others are compared with"
          onClick={() => compareFrom(at)}
        >
          Compare from here
        </button>
      )}
    </div>
  );
}

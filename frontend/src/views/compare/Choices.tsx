/** With which run, allocator and moment to compare, and by what. */
import { GroupBy } from '../../generated/datasets_pb';
import { decodeMoment, encodeMoment } from '../../store/link';
import { momentName, oomsOf } from '../../store/moment';
import { runs, select, selection } from '../../store/session';
import type { Target } from '../../store/target';
import { RunSelect } from '../../ui/RunSelect';
import { Select } from '../../ui/Select';
import { StepField } from '../../ui/StepField';
import { GROUPINGS } from '../holders/groupings';
import {
  chooseAllocator,
  chooseRun,
  comparedBy,
  isSameAllocator,
  type OtherSide,
  swapSides,
  useOtherSide,
} from './sides';

const COMPARED_BY = [
  { value: GroupBy.GROUP_SITE, label: 'Site' },
  ...GROUPINGS.filter(({ value }) => value !== GroupBy.GROUP_SCOPE),
];

export function Choices({ target }: { readonly target: Target }) {
  const { otherRun, groupBy } = selection.value;
  const other = useOtherSide(target);
  const list = runs.value.state === 'ready' ? runs.value.value : [];
  return (
    <>
      <RunSelect
        label="With run"
        value={otherRun || target.run}
        runs={list.map(({ run }) => run)}
        nameOf={(run) => (run === target.run ? 'this run' : run)}
        onChange={(run) => chooseRun(run, target)}
      />
      {other.allocators.length > 1 && <OtherAllocator other={other} />}
      <OtherMoment target={target} other={other} />
      {isSameAllocator(target) && (
        <button type="button" class="button" onClick={() => swapSides(target)}>
          Swap
        </button>
      )}
      <Select
        label="By"
        value={comparedBy(groupBy)}
        options={COMPARED_BY}
        onChange={(chosen) => select({ groupBy: chosen }, 'replace')}
      />
    </>
  );
}

/** Which of the other run's allocators, where it has several. */
function OtherAllocator({ other }: { readonly other: OtherSide }) {
  const encode = (host: string, allocator: string) => JSON.stringify([host, allocator]);
  return (
    <Select
      label="Allocator"
      value={encode(other.host, other.allocator)}
      options={other.allocators.map(({ host, allocator }) => ({
        value: encode(host, allocator),
        label: `${host} · ${allocator}`,
      }))}
      onChange={(value) => chooseAllocator(...(JSON.parse(value) as [string, string]))}
    />
  );
}

/** The peak of a step that is still to be named. */
const SOME_STEP = 'step';

/** Which moment of the other side. */
function OtherMoment({ target, other }: { readonly target: Target; readonly other: OtherSide }) {
  const { otherRun, otherAt } = selection.value;
  const { steps } = other;
  const options = [
    { value: '', label: 'its start' },
    { value: 'peak', label: 'its peak' },
    { value: 'end', label: 'its end' },
    ...(otherRun === ''
      ? oomsOf(target).map(({ index }, place) => ({
          value: `oom:${index}`,
          label: `OOM ${place + 1}`,
        }))
      : [{ value: 'oom:0', label: 'its first OOM' }]),
    ...(steps?.hasSteps ? [{ value: SOME_STEP, label: 'the peak of a step' }] : []),
  ];
  const chosen = otherAt.kind === 'step' ? SOME_STEP : encodeMoment(otherAt);
  // One that was taken from the timeline.
  if (otherAt.kind !== 'default' && !options.some(({ value }) => value === chosen)) {
    options.push({ value: chosen, label: momentName(otherAt, target) });
  }
  return (
    <>
      <Select
        label="Moment"
        value={chosen}
        options={options}
        onChange={(text) =>
          select({
            otherAt:
              text === SOME_STEP && steps
                ? { kind: 'step', step: steps.firstStep }
                : decodeMoment(text),
          })
        }
      />
      {otherAt.kind === 'step' && steps?.hasSteps && (
        <StepField
          label="Step"
          value={otherAt.step}
          first={steps.firstStep}
          last={steps.lastStep}
          onChange={(step) => select({ otherAt: { kind: 'step', step } })}
        />
      )}
    </>
  );
}

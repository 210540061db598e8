import { STEPS } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { formatDuration } from '../../format/time';
import type { StepUse } from '../../generated/datasets_pb';
import { missingViews } from '../../store/missingViews';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { bytesColumn, countColumn, numberColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty } from '../../ui/Notices';
import { showStep } from './bars';
import { SideBySide } from './SideBySide';
import { StepBars } from './StepBars';

/** As many as an answer may have. */
const MOST_STEPS = 10_000;

/** Each training step: its peak, what it took and gave back, what stayed; some of them in detail. */
export function Steps({ target }: { readonly target: Target }) {
  const asked = useDataset(STEPS, {
    run: target.run,
    fields: { filter: filterOf(target), limit: MOST_STEPS },
  });
  const steps = asked.data?.steps ?? [];
  return (
    <>
      <AnswerCard
        title="Steps"
        note={asked.data && `${groupDigits(asked.data.totalCount)} steps`}
        name="steps"
        asked={asked}
        table={() => tableText(COLUMNS, steps)}
        waiting="Measuring the steps…"
      >
        {() =>
          steps.length === 0 ? (
            <Empty title="This trace has no training steps">
              <p>
                Keras marks them by itself. In a loop of your own, mark them with{' '}
                <code>tf.profiler.experimental.Trace("train", step_num=step)</code>.
              </p>
            </Empty>
          ) : (
            <>
              <StepBars steps={steps} />
              <DataTable
                caption="Steps"
                columns={COLUMNS}
                rows={steps}
                rowKey={({ step }, index) => `${step?.step}/${index}`}
              />
            </>
          )
        }
      </AnswerCard>
      {steps.length > 1 && !missingViews.value.has('compare') && (
        <SideBySide target={target} steps={steps} />
      )}
    </>
  );
}

const durationOf = ({ step }: StepUse) => (step ? step.endNs - step.beginNs : 0n);

const COLUMNS: readonly DataColumn<StepUse>[] = [
  {
    ...numberColumn('Step', ({ step }) => step?.step),
    cell: (use) => (
      <button type="button" class="link" onClick={() => showStep(use)}>
        {String(use.step?.step ?? '')}
      </button>
    ),
  },
  { ...numberColumn('Duration', durationOf), cell: (use) => formatDuration(durationOf(use)) },
  bytesColumn('Peak', ({ peak }) => peak?.inUseBytes ?? 0n),
  bytesColumn('At its begin', ({ beginInUseBytes }) => beginInUseBytes),
  bytesColumn('At its end', ({ endInUseBytes }) => endInUseBytes),
  bytesColumn('Stayed', ({ survivorBytes }) => survivorBytes),
  countColumn('Allocations', ({ allocCount }) => allocCount),
  countColumn('Frees', ({ freeCount }) => freeCount),
];

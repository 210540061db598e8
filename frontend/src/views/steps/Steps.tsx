import { STEPS } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { formatDuration } from '../../format/time';
import type { StepUse } from '../../generated/datasets_pb';
import { missingViews } from '../../store/missingViews';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { Card } from '../../ui/Card';
import { bytesColumn, countColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { SideBySide } from './SideBySide';
import { StepBars } from './StepBars';
import { showStep } from './showStep';

/** As many as an answer may have. */
const MOST_STEPS = 10_000;

/** Each training step: its peak, what it took and gave back, what stayed; some of them in detail. */
export function Steps({ target }: { readonly target: Target }) {
  const asked = useDataset(STEPS, {
    run: target.run,
    fields: { filter: filterOf(target), limit: MOST_STEPS },
  });
  const steps = asked.data?.steps ?? [];
  const canCompare = !missingViews.value.has('compare');
  return (
    <>
      <Card
        title="Steps"
        busy={asked.loading}
        note={asked.data && `${groupDigits(asked.data.totalCount)} steps`}
        exports={{
          name: 'steps',
          table: () => tableText(COLUMNS, steps),
          question: asked.question,
        }}
      >
        {asked.error && <Failed error={asked.error} />}
        {!asked.data && asked.loading && <Waiting run={target.run} what="Measuring the steps…" />}
        {asked.data && steps.length === 0 && (
          <Empty title="This trace has no training steps">
            <p>
              Keras marks them by itself. In a loop of your own, mark them with{' '}
              <code>tf.profiler.experimental.Trace("train", step_num=step)</code>.
            </p>
          </Empty>
        )}
        {steps.length > 0 && (
          <>
            <StepBars steps={steps} />
            <DataTable
              caption="Steps"
              columns={COLUMNS}
              rows={steps}
              rowKey={({ step }, index) => `${step?.step}/${index}`}
            />
          </>
        )}
        {asked.data && <QualityNotes quality={asked.data.quality} />}
      </Card>
      {steps.length > 1 && canCompare && <SideBySide target={target} steps={steps} />}
    </>
  );
}

const COLUMNS: readonly DataColumn<StepUse>[] = [
  {
    title: 'Step',
    numeric: true,
    text: ({ step }) => String(step?.step ?? ''),
    cell: (use) => (
      <button type="button" class="link" onClick={() => showStep(use)}>
        {String(use.step?.step ?? '')}
      </button>
    ),
    order: ({ step }) => step?.step ?? 0n,
  },
  {
    title: 'Duration',
    numeric: true,
    text: ({ step }) => String(step ? step.endNs - step.beginNs : ''),
    cell: ({ step }) => (step ? formatDuration(step.endNs - step.beginNs) : ''),
    order: ({ step }) => (step ? step.endNs - step.beginNs : 0n),
  },
  bytesColumn('Peak', ({ peak }) => peak?.inUseBytes ?? 0n),
  bytesColumn('At its begin', ({ beginInUseBytes }) => beginInUseBytes),
  bytesColumn('At its end', ({ endInUseBytes }) => endInUseBytes),
  bytesColumn('Stayed', ({ survivorBytes }) => survivorBytes),
  countColumn('Allocations', ({ allocCount }) => allocCount),
  countColumn('Frees', ({ freeCount }) => freeCount),
];

import { sparkPath } from '../../chart/sparkline';
import { LEAKS } from '../../data/query';
import { formatBytes, formatDelta, groupDigits } from '../../format/bytes';
import { opName, shapeName } from '../../format/names';
import { lineName } from '../../format/source';
import type { Leak } from '../../generated/datasets_pb';
import { NO_FILTER } from '../../store/selection';
import { select } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AllocationLink } from '../../ui/AllocationLink';
import { AnswerCard } from '../../ui/AnswerCard';
import { Bytes } from '../../ui/Bytes';
import { type DataColumn, tableText } from '../../ui/DataTable';
import { Keepers } from '../../ui/Keepers';
import { Empty } from '../../ui/Notices';
import { SourceBlock } from '../../ui/SourceLine';

const MOST_SHOWN = 50;

/** Sites whose memory grows from step to step, and tensors that outlived their siblings. */
export function Leaks({ target }: { readonly target: Target }) {
  const asked = useDataset(LEAKS, { run: target.run, fields: { filter: filterOf(target) } });
  const leaks = asked.data?.leaks ?? [];
  return (
    <AnswerCard
      title="What does not go away"
      note={asked.data && `${groupDigits(leaks.length)} found`}
      name="leaks"
      asked={asked}
      table={() => tableText(COLUMNS, leaks)}
      waiting="Looking for leaks…"
    >
      {() => (
        <>
          {leaks.length === 0 && (
            <Empty title="Nothing leaks">
              <p>
                {target.host.hasSteps
                  ? 'No site grows from step to step, and nothing outlives its siblings.'
                  : 'Without training steps in the trace only little can be said. Keras marks them by itself; elsewhere use tf.profiler.experimental.Trace("train", step_num=step).'}
              </p>
            </Empty>
          )}
          {leaks.slice(0, MOST_SHOWN).map((leak) => (
            <LeakItem
              key={`${leak.kind}/${leak.opName}/${leak.shape.join()}/${leak.dtype}`}
              leak={leak}
            />
          ))}
          {leaks.length > MOST_SHOWN && (
            <p class="hint">The {MOST_SHOWN} largest are shown; the export has all.</p>
          )}
        </>
      )}
    </AnswerCard>
  );
}

function LeakItem({ leak }: { readonly leak: Leak }) {
  const search = () =>
    select({ view: 'live', at: { kind: 'end' }, filter: { ...NO_FILTER, search: leak.opName } });
  return (
    <article class="leak">
      <div>
        <h3>
          <span class="badge kind">{leak.kind === 'growth' ? 'grows' : 'outlives'}</span>{' '}
          <button type="button" class="link" onClick={search}>
            {opName(leak.opName)}
          </button>{' '}
          {leak.dtype} {shapeName(leak.shape)}
        </h3>
        <p>{leak.sentence}</p>
        {leak.source && <SourceBlock source={leak.source} />}
        <Keepers keepers={leak.keepers} />
        <p class="hint">
          {leak.bytesPerStep !== 0 && (
            <>
              {formatDelta(Math.round(leak.bytesPerStep))} per step (95 % sure:{' '}
              {formatDelta(Math.round(leak.bytesPerStepLow))} to{' '}
              {formatDelta(Math.round(leak.bytesPerStepHigh))}), since step {String(leak.sinceStep)}{' '}
              ·{' '}
            </>
          )}
          {groupDigits(leak.liveCount)} live, <Bytes value={leak.liveBytes} />
        </p>
        {leak.samples.length > 0 && (
          <p class="hint">
            For example:{' '}
            {leak.samples.slice(0, 3).map(({ id, step, opName: name }, index) => (
              <span key={String(id)}>
                {index > 0 && ', '}
                <AllocationLink id={id} name={step >= 0n ? `of step ${step}` : name} />
              </span>
            ))}
          </p>
        )}
      </div>
      {leak.byStep.length > 1 && <Growth leak={leak} />}
    </article>
  );
}

function Growth({ leak }: { readonly leak: Leak }) {
  const values = leak.byStep.map(({ bytes }) => Number(bytes));
  const first = leak.byStep[0];
  const last = leak.byStep.at(-1);
  return (
    <figure class="leak-picture">
      <svg viewBox="-1 -1 202 52" role="img" aria-label="Live bytes at the end of each step">
        <path d={sparkPath(values, 200, 50)} />
      </svg>
      <figcaption>
        step {String(first?.step)}: {formatBytes(first?.bytes ?? 0n)} → step {String(last?.step)}:{' '}
        {formatBytes(last?.bytes ?? 0n)}
      </figcaption>
    </figure>
  );
}

const COLUMNS: readonly DataColumn<Leak>[] = [
  { title: 'Kind', text: ({ kind }) => kind },
  { title: 'Operation', text: ({ opName: name }) => name },
  { title: 'Shape', text: ({ shape }) => shapeName(shape) },
  { title: 'Type', text: ({ dtype }) => dtype },
  { title: 'Bytes per step', text: ({ bytesPerStep }) => String(bytesPerStep) },
  { title: '95 % low', text: ({ bytesPerStepLow }) => String(bytesPerStepLow) },
  { title: '95 % high', text: ({ bytesPerStepHigh }) => String(bytesPerStepHigh) },
  { title: 'Since step', text: ({ sinceStep }) => String(sinceStep) },
  { title: 'Live', text: ({ liveCount }) => String(liveCount) },
  { title: 'Live (bytes)', text: ({ liveBytes }) => String(liveBytes) },
  { title: 'Line', text: ({ source }) => (source?.line ? lineName(source.line) : '') },
  { title: 'Sentence', text: ({ sentence }) => sentence },
];

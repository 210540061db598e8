import { FORECAST } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { ForecastFit, type ForecastNeed, type StepForecast } from '../../generated/datasets_pb';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { bytesColumn, numberColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty } from '../../ui/Notices';
import { StepPicture } from './StepPicture';

/** What the step that never finished would have needed, by batch size and by layer. */
export function Forecast({ target }: { readonly target: Target }) {
  const asked = useDataset(FORECAST, { run: target.run, fields: { filter: filterOf(target) } });
  const forecasts = (asked.data?.forecasts ?? []).filter(
    ({ host, allocator }) =>
      host === target.host.host && (allocator === '' || allocator === target.allocator.allocator),
  );
  return (
    <AnswerCard
      title="The whole step"
      name="forecast"
      asked={asked}
      table={() =>
        tableText(
          needColumns(),
          forecasts.flatMap(({ batches }) => batches),
        )
      }
      waiting="Replaying the step…"
    >
      {() =>
        forecasts.length === 0 ? (
          <Empty title="This run has no forecast">
            <p>
              One is made when a step of a graph runs out of memory, and by{' '}
              <code>oom_forensics.forecast(model, batch_size=…)</code> before a step.
            </p>
          </Empty>
        ) : (
          forecasts.map((forecast) => (
            <Step
              key={`${forecast.oom}/${forecast.function}/${forecast.need?.batch}`}
              forecast={forecast}
            />
          ))
        )
      }
    </AnswerCard>
  );
}

function Step({ forecast }: { readonly forecast: StepForecast }) {
  const { oom, sentence, batches, columns, unknownCount, opCount, unknownOps, assumed } = forecast;
  return (
    <section aria-label={oom >= 0 ? `The step of OOM ${oom + 1}` : 'A step'}>
      <p>
        {oom >= 0 && <strong>OOM {oom + 1}: </strong>}
        {sentence}
      </p>
      {columns.length > 0 && <StepPicture forecast={forecast} />}
      {batches.length > 0 && (
        <DataTable
          caption="Need by batch size"
          columns={needColumns(forecast.limitBytes)}
          rows={batches}
          rowKey={({ batch }) => String(batch)}
        />
      )}
      {unknownCount > 0n && (
        <p>
          Not counted: {groupDigits(unknownCount)} of {groupDigits(opCount)} ops, whose sizes are
          not known ({unknownOps.slice(0, 5).join(', ')}).
        </p>
      )}
      {assumed.length > 0 && <p>Assumed: {assumed.join('; ')}.</p>}
    </section>
  );
}

const FITS: Readonly<Record<ForecastFit, string>> = {
  [ForecastFit.FORECAST_FIT_UNKNOWN]: '',
  [ForecastFit.FORECAST_FITS]: 'fits',
  [ForecastFit.FORECAST_UNCERTAIN]: 'uncertain',
  [ForecastFit.FORECAST_DOES_NOT_FIT]: 'does not fit',
};

/** With less need than the limit it is the pieces of the free memory that are too small. */
function needColumns(limitBytes = 0n): readonly DataColumn<ForecastNeed>[] {
  return [
    numberColumn('Batch', ({ batch }) => batch),
    bytesColumn('Needs at least', ({ lowBytes }) => lowBytes),
    bytesColumn('At most', ({ highBytes }) => highBytes),
    {
      title: 'Fits',
      text: ({ fit, highBytes }) =>
        fit === ForecastFit.FORECAST_DOES_NOT_FIT && highBytes < limitBytes
          ? 'does not fit: the free memory is in pieces'
          : FITS[fit],
      order: ({ highBytes }) => highBytes,
    },
  ];
}

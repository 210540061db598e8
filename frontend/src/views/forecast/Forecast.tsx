import { FORECAST } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { ForecastFit, type ForecastNeed, type StepForecast } from '../../generated/datasets_pb';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { Card } from '../../ui/Card';
import { bytesColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { StepPicture } from './StepPicture';

/** What the step that never finished would have needed, by batch size and by layer. */
export function Forecast({ target }: { readonly target: Target }) {
  const asked = useDataset(FORECAST, { run: target.run, fields: { filter: filterOf(target) } });
  const forecasts = (asked.data?.forecasts ?? []).filter(
    ({ host, allocator }) =>
      host === target.host.host && (allocator === '' || allocator === target.allocator.allocator),
  );
  return (
    <Card
      title="The whole step"
      busy={asked.loading}
      exports={{
        name: 'forecast',
        table: () =>
          tableText(
            COLUMNS,
            forecasts.flatMap(({ batches }) => batches),
          ),
        question: asked.question,
      }}
    >
      {asked.error && <Failed error={asked.error} />}
      {!asked.data && asked.loading && <Waiting run={target.run} what="Replaying the step…" />}
      {asked.data && forecasts.length === 0 && (
        <Empty title="This run has no forecast">
          <p>
            One is made when a step of a graph runs out of memory, and by{' '}
            <code>oom_forensics.forecast(model, batch_size=…)</code> before a step.
          </p>
        </Empty>
      )}
      {forecasts.map((forecast) => (
        <Step key={`${forecast.oom}/${forecast.function}/${forecast.need?.batch}`} {...forecast} />
      ))}
      {asked.data && <QualityNotes quality={asked.data.quality} />}
    </Card>
  );
}

function Step(forecast: StepForecast) {
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
          columns={COLUMNS}
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

const COLUMNS: readonly DataColumn<ForecastNeed>[] = [
  {
    title: 'Batch',
    numeric: true,
    text: ({ batch }) => String(batch),
    order: ({ batch }) => batch,
  },
  bytesColumn('Needs at least', ({ lowBytes }) => lowBytes),
  bytesColumn('At most', ({ highBytes }) => highBytes),
  {
    title: 'Fits',
    text: ({ fit }) => FITS[fit],
    order: ({ highBytes }) => highBytes,
  },
];

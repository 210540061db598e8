import { formatBytes, groupDigits } from '../format/bytes';
import { formatWallClock } from '../format/time';
import { Card } from '../ui/Card';
import { CopyButton } from '../ui/CopyButton';
import { type DataColumn, DataTable, tableText } from '../ui/DataTable';
import type { FleetData } from './answers';
import * as columns from './columns';
import { OomsOverTime } from './OomsOverTime';

/** What a team's jobs die of, on one page. */
export function FleetPage({ data }: { readonly data: FleetData }) {
  const { answers } = data;
  const table = <Row,>(
    title: string,
    note: string,
    query: string,
    rows: readonly Row[],
    shown: readonly DataColumn<Row>[],
    nothing: string,
  ) => (
    <Card
      title={title}
      note={note}
      actions={
        <CopyButton
          text={data.sql[query] ?? ''}
          label={`Copy the SQL of: ${title}`}
          shown="Copy SQL"
        />
      }
      exports={{ name: query, table: () => tableText(shown, rows) }}
    >
      {rows.length === 0 ? (
        <p class="card-note">{nothing}.</p>
      ) : (
        <DataTable
          caption={title}
          columns={shown}
          rows={rows}
          rowKey={(_, index) => String(index)}
        />
      )}
    </Card>
  );
  return (
    <main class="app fleet">
      <h1 class="visually-hidden">OOM Forensics: a fleet of runs</h1>
      <Summary data={data} />
      <OomsOverTime rows={answers.ooms_over_time} />
      <div class="fleet-pair">
        {table(
          'Layers that die most',
          'By name scope of the refused request',
          'layers',
          answers.layers,
          columns.LAYERS,
          'No layer was refused memory',
        )}
        {table(
          'Ops that die most',
          'By kind of the op that asked',
          'ops',
          answers.ops,
          columns.OPS,
          'No op was refused memory',
        )}
      </div>
      {table(
        'Lines that die most',
        'Of the users’ own programs, where they were recorded',
        'lines',
        answers.lines,
        columns.LINES,
        'No line is known',
      )}
      {table(
        'What one change would do',
        'Remedies of all incidents; “enough alone” is proved for the whole step',
        'remedies',
        answers.remedies,
        columns.REMEDIES,
        'No remedy was found',
      )}
      {table(
        'Reserved and never used',
        'By job, the most of all its runs; “would do” is the highest use and a fifth',
        'reserved',
        answers.reserved,
        columns.RESERVED,
        'No allocator has a limit',
      )}
      {table(
        'Near their limit, before they die',
        'Jobs whose newest run came within a tenth of its limit',
        'near_limit',
        answers.near_limit,
        columns.NEAR_LIMIT,
        'No job is near its limit',
      )}
      {table(
        'Incidents',
        'The newest; the button copies the command that opens the run’s story',
        'incidents',
        answers.incidents,
        columns.INCIDENTS,
        'No job ran out of memory',
      )}
      {table(
        'Runs that could not be converted',
        'They are in no number above',
        'errors',
        answers.errors,
        columns.ERRORS,
        'All runs were converted',
      )}
      {table(
        'Data quality',
        'What was lost, sampled or missing in the runs',
        'quality',
        answers.quality,
        columns.QUALITY,
        'Nothing was lost',
      )}
    </main>
  );
}

function Summary({ data }: { readonly data: FleetData }) {
  const [overview] = data.answers.overview;
  const facts: readonly (readonly [string, string])[] = [
    [groupDigits(overview.runs), `runs, ${formatBytes(overview.file_bytes)}`],
    [groupDigits(overview.jobs), 'jobs'],
    [groupDigits(overview.incidents), 'out-of-memory incidents'],
    [groupDigits(overview.jobs_out_of_memory), 'jobs that ran out of memory'],
    [groupDigits(overview.errors), 'runs not converted'],
  ];
  return (
    <section class="card story" aria-label="Summary">
      <p class="story-when">
        {data.folder}
        {overview.first_day !== null && `, ${overview.first_day} to ${overview.last_day}`}, asked{' '}
        {formatWallClock(BigInt(data.writtenNs))}
      </p>
      <dl class="fleet-facts">
        {facts.map(([value, label]) => (
          <div key={label}>
            <dd class="fact-value">{value}</dd>
            <dt class="fact-label">{label}</dt>
          </div>
        ))}
      </dl>
    </section>
  );
}

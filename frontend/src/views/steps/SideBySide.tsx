import { useEffect, useState } from 'preact/hooks';
import { COMPARE } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { GroupBy, type StepUse } from '../../generated/datasets_pb';
import { momentQuery } from '../../store/moment';
import { select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { bytesColumn, deltaColumn, textColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Failed, Waiting } from '../../ui/Notices';
import { Select } from '../../ui/Select';
import { defaultSteps, MOST_CHOSEN, parseSteps, type SiteRow, siteRows } from './chosen';

/** As many as an answer may have. */
const MOST_SITES = 10_000;
const SHOWN_SITES = 200;

type When = 'end' | 'peak';
const WHENS: readonly { readonly value: When; readonly label: string }[] = [
  { value: 'end', label: "each step's end" },
  { value: 'peak', label: "each step's peak" },
];

interface SideBySideProps {
  readonly target: Target;
  readonly steps: readonly StepUse[];
}

/** What each site held in an early, a settled and a late step: what grows is seen at once. */
export function SideBySide({ target, steps }: SideBySideProps) {
  const [when, setWhen] = useState<When>('end');
  const all = steps.map(({ step }) => step?.step ?? -1n);
  const chosen = parseSteps(selection.value.steps.join(' '), all) ?? defaultSteps(all);
  const uses = chosen.flatMap((step) => steps[all.indexOf(step)] ?? []);
  const comparisons = useComparisons(target, uses, when);
  const error = comparisons.find((asked) => asked.error)?.error;
  const loading = comparisons.some((asked) => asked.loading);
  const answers = comparisons.flatMap(({ data }) => data ?? []);
  const complete = answers.length === uses.length - 1 && uses.length > 1;
  const rows = complete ? siteRows(answers) : [];
  const columns = siteColumns(chosen);
  return (
    <Card
      title="Steps side by side"
      note={`What each site held ${when === 'end' ? 'when the step was over' : 'at the peak of the step'}`}
      busy={loading}
      actions={
        <>
          <StepsField chosen={chosen} all={all} />
          <Select label="At" value={when} options={WHENS} onChange={setWhen} />
        </>
      }
      exports={{
        name: 'steps-side-by-side',
        table: () => tableText(columns, rows),
        question: comparisons.at(uses.length - 2)?.question,
      }}
    >
      {error && <Failed error={error} />}
      {!complete && loading && <Waiting run={target.run} what="Comparing the steps…" />}
      {complete && (
        <>
          <p class="side-by-side">
            {uses.map((use, index) => (
              <span key={String(use.step?.step)}>
                step {String(use.step?.step)}:{' '}
                <strong>
                  <Bytes
                    value={
                      (index === 0 ? answers[0]?.before : answers[index - 1]?.after)?.inUseBytes ??
                      0n
                    }
                  />
                </strong>
              </span>
            ))}
          </p>
          <DataTable
            caption="Sites at the chosen steps"
            columns={columns}
            rows={rows.slice(0, SHOWN_SITES)}
            rowKey={({ key }) => key}
          />
          {rows.length > SHOWN_SITES && (
            <p class="hint">
              The {SHOWN_SITES} that changed most of {groupDigits(rows.length)}; the export has all.
            </p>
          )}
        </>
      )}
    </Card>
  );
}

/** The first of the chosen steps compared with each later one. */
function useComparisons(target: Target, uses: readonly StepUse[], when: When) {
  const momentOf = ({ step, peak }: StepUse) =>
    momentQuery(
      when === 'peak' && peak
        ? { kind: 'event', event: peak.event }
        : { kind: 'time', timeNs: step?.endNs ?? 0n },
    );
  const [first, ...later] = uses;
  const ask = (use: StepUse | undefined) =>
    first &&
    use && {
      run: target.run,
      fields: {
        filter: filterOf(target),
        at: momentOf(first),
        other: momentOf(use),
        groupBy: GroupBy.GROUP_SITE,
        limit: MOST_SITES,
      },
    };
  // As many as can be chosen: hooks may not come and go.
  return [
    useDataset(COMPARE, ask(later[0])),
    useDataset(COMPARE, ask(later[1])),
    useDataset(COMPARE, ask(later[2])),
    useDataset(COMPARE, ask(later[3])),
  ];
}

interface StepsFieldProps {
  readonly chosen: readonly bigint[];
  readonly all: readonly bigint[];
}

/** A field for the numbers of the steps; taken when it is left or Enter is pressed. */
function StepsField({ chosen, all }: StepsFieldProps) {
  const shown = chosen.join(', ');
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const take = () => {
    const steps = parseSteps(text, all);
    if (steps) select({ steps });
    else setText(shown);
  };
  return (
    <label class="field">
      <span class="field-label">Steps</span>
      <input
        value={text}
        title={`Up to ${MOST_CHOSEN} steps of ${all[0]} to ${all.at(-1)}, parted by commas`}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={take}
        onKeyDown={(event) => event.key === 'Enter' && take()}
      />
    </label>
  );
}

function siteColumns(chosen: readonly bigint[]): readonly DataColumn<SiteRow>[] {
  return [
    textColumn('Site', ({ key }) => key),
    ...chosen.map((step, index) =>
      bytesColumn<SiteRow>(`Step ${step}`, ({ bytes }) => bytes[index] ?? 0n),
    ),
    deltaColumn('Grew by', ({ grewBytes }) => grewBytes),
  ];
}

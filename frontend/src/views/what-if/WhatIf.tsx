import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { WHAT_IF } from '../../data/query';
import { formatBytes, groupDigits } from '../../format/bytes';
import type { WhatIfAnswer, WhatIfCourse } from '../../generated/datasets_pb';
import { shownMomentQuery } from '../../store/moment';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { type DataColumn, tableText } from '../../ui/DataTable';
import { Controls } from './Controls';
import { Limits } from './Limits';
import { AS_RECORDED, type Settings, toQuery } from './settings';
import { TwoMaps } from './TwoMaps';

/** What is not moved for so long is searched for its smallest limit, which takes several replays. */
const SETTLED_MS = 400;
/** So many scopes are suggested. */
const MOST_SCOPES = 50;

/** The recorded requests under other settings: would they have fit? */
export function WhatIf({ target }: { readonly target: Target }) {
  const [settings, setSettings] = useState<Settings>(AS_RECORDED);
  const settled = useSettled(settings);
  const at = shownMomentQuery(target);
  const fields = { filter: filterOf(target), ...(at && { at }) };
  const asked = useDataset(WHAT_IF, {
    run: target.run,
    fields: { ...fields, whatIf: { ...toQuery(settings), maps: true } },
  });
  const search = useDataset(
    WHAT_IF,
    settled && {
      run: target.run,
      fields: { ...fields, whatIf: { ...toQuery(settled), findSmallestLimit: true } },
    },
  );
  const answer = asked.data;
  const scopes = useScopes(answer);
  // While another search runs its predecessor's answer is of other settings.
  const found = settled && !search.loading ? search.data : undefined;
  const smallest = found?.smallestLimitBytes;
  return (
    <AnswerCard
      title="What if"
      note="The recorded requests, served once more under other settings"
      name="what-if"
      asked={{ ...asked, loading: asked.loading || search.loading }}
      table={() => tableText(COLUMNS, answer ? rowsOf(answer) : [])}
      waiting="Replaying the requests…"
      controls={
        <Controls
          settings={settings}
          recordedLimit={baseLimit(target, answer)}
          batchSize={answer?.batchSize ?? 0n}
          smallestLimit={smallest || undefined}
          scopes={scopes}
          onChange={setSettings}
        />
      }
    >
      {(shown) => (
        <>
          <Verdict answer={found ?? shown} />
          <Comparison answer={shown} />
          {found && found.limits.length > 0 && (
            <Limits
              limits={found.limits}
              recorded={shown.recorded?.limitBytes ?? 0n}
              asked={shown.asked?.limitBytes ?? 0n}
              smallest={found.smallestLimitBytes}
            />
          )}
          <TwoMaps answer={shown} />
        </>
      )}
    </AnswerCard>
  );
}

/** Scopes of what was live at the moment shown; the last ones while there is no answer. */
function useScopes(answer: WhatIfAnswer | undefined): readonly string[] {
  const last = useRef<readonly string[]>([]);
  return useMemo(() => {
    if (answer) last.current = scopesOf(answer);
    return last.current;
  }, [answer]);
}

/** The largest first. */
function scopesOf(answer: WhatIfAnswer): readonly string[] {
  const bytes = new Map<string, bigint>();
  for (const { allocation, sizeBytes } of answer.recorded?.map?.chunks ?? []) {
    const scope = allocation?.scope || allocation?.opType;
    if (scope) bytes.set(scope, (bytes.get(scope) ?? 0n) + sizeBytes);
  }
  const sorted = [...bytes].sort(([, a], [, b]) => Number(b - a));
  return sorted.slice(0, MOST_SCOPES).map(([scope]) => scope);
}

/** The limit that the slider starts from: where none is recorded, what the pool held. */
function baseLimit({ allocator }: Target, answer: WhatIfAnswer | undefined): bigint {
  const recorded = answer?.recorded?.limitBytes || allocator.limitBytes;
  return recorded || answer?.recorded?.peakReservedBytes || allocator.peakReservedBytes;
}

/** The settings once they have not changed for a while; undefined before. */
function useSettled(settings: Settings): Settings | undefined {
  const [settled, setSettled] = useState<Settings>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(settings), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [settings]);
  return settled === settings ? settled : undefined;
}

function Verdict({ answer }: { readonly answer: WhatIfAnswer }) {
  return (
    <div class="what-if-verdict" role="status">
      <p>
        <span class={`badge ${answer.fits ? 'fits' : 'kind'}`}>
          {answer.fits ? 'fits' : 'does not fit'}
        </span>{' '}
        {answer.sentence}
      </p>
      {answer.requests > 0n && (
        <p class="hint">
          The model, left as recorded, places {groupDigits(answer.placedAlike)} of{' '}
          {groupDigits(answer.requests)} allocations where TensorFlow did.
        </p>
      )}
      {answer.doubts.length > 0 && (
        <ul class="hint" aria-label="Why it may be otherwise">
          {answer.doubts.map((doubt) => (
            <li key={doubt}>{doubt}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface Line {
  readonly name: string;
  readonly recorded: string;
  readonly asked: string;
}

const COLUMNS: readonly DataColumn<Line>[] = [
  { title: '', text: ({ name }) => name },
  { title: 'Recorded', text: ({ recorded }) => recorded },
  { title: 'What if', text: ({ asked }) => asked },
];

function rowsOf({ recorded, asked }: WhatIfAnswer): readonly Line[] {
  if (!recorded || !asked) return [];
  const line = (name: string, text: (course: WhatIfCourse) => string): Line => ({
    name,
    recorded: text(recorded),
    asked: text(asked),
  });
  return [
    line('Outcome', ({ fits, refused }) =>
      fits ? 'fits' : `${formatBytes(refused?.requestedBytes ?? 0n)} refused`,
    ),
    line('Refused to', ({ refused }) => refused?.opName || '–'),
    line('Lasted', ({ lastedNs }) => `${(Number(lastedNs) / 1e9).toFixed(3)} s`),
    line('Limit', ({ limitBytes }) => (limitBytes > 0n ? formatBytes(limitBytes) : 'not recorded')),
    line('Grows', ({ growth }) => (growth ? 'region by region' : 'at once')),
    line('Peak in use', ({ peakInUseBytes }) => formatBytes(peakInUseBytes)),
    line('Peak reserved', ({ peakReservedBytes }) => formatBytes(peakReservedBytes)),
    line('In use at the moment shown', ({ inUseBytes }) => formatBytes(inUseBytes)),
    line('Free then', ({ freeBytes }) => formatBytes(freeBytes)),
    line('Largest hole then', ({ largestFreeBytes }) => formatBytes(largestFreeBytes)),
  ];
}

function Comparison({ answer }: { readonly answer: WhatIfAnswer }) {
  return (
    <table class="what-if-table">
      <thead>
        <tr>
          <td />
          <th scope="col">Recorded</th>
          <th scope="col">What if</th>
        </tr>
      </thead>
      <tbody>
        {rowsOf(answer).map(({ name, recorded, asked }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{recorded}</td>
            <td>{asked}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

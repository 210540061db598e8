import { HOST_MEMORY } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { formatMoment } from '../../format/time';
import type { HostMemoryHolder, HostMemorySeries } from '../../generated/datasets_pb';
import { relativeNs, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { Bytes } from '../../ui/Bytes';
import { Coded } from '../../ui/Coded';
import { Failed, Waiting } from '../../ui/Notices';
import { SourceLink } from '../../ui/SourceLine';
import { showDetails } from '../../ui/showDetails';
import { Remedies } from './Remedies';
import { verdictTitle } from './verdict';

const SHOWN_HOLDERS = 3;

/** ProcessEnd.kind, as short as a badge. */
const ENDS: Readonly<Record<string, string>> = {
  kernel: 'Killed by the kernel',
  signal: 'Ended by a signal',
  abort: 'Aborted',
  exit_call: 'Exited',
  memory_error: 'MemoryError',
  asked: 'Stopped on request',
};

/** A process that could not say how it ended, from its black box: how, why, what to change, who held most. */
export function DeathCard({ target }: { readonly target: Target }) {
  const { data, error, loading } = useDataset(HOST_MEMORY, {
    run: target.run,
    fields: { filter: { host: target.host.host }, columns: 1 },
  });
  const series = data?.series[0];
  if (error) return <Failed error={error} />;
  if (loading && !series) return <Waiting run={target.run} what="Reading the black box…" />;
  return series?.end ? <Death series={series} target={target} /> : null;
}

function Death({ series, target }: { readonly series: HostMemorySeries; readonly target: Target }) {
  const { end, verdict, remedies, holders } = series;
  return (
    <article class="card story out-of-memory" aria-labelledby="death">
      <div class="story-kicker">
        <span class="badge oom">{ENDS[end?.kind ?? ''] ?? 'Ended'}</span>
        {verdict && <span class="badge kind">{verdictTitle(verdict.kind)}</span>}
        <span class="story-when">
          {formatMoment(relativeNs(target, end?.timeNs ?? target.endNs))} after the start
        </span>
      </div>
      <h2 id="death" class="story-verdict">
        {end?.sentence}
      </h2>
      {verdict?.parts.map(({ kind, sentence }) => (
        <p key={kind} class="story-request">
          <Coded text={sentence} />
        </p>
      ))}
      {verdict?.doubt && <p class="story-doubt">{verdict.doubt}</p>}
      <div class="story-columns">
        <Remedies remedies={remedies} first={remedies.length} />
        {holders.length > 0 && <Holders holders={holders} />}
      </div>
      {end?.seen && (
        <details class="evidence">
          <summary>How this is known</summary>
          <p>{end.seen}</p>
        </details>
      )}
    </article>
  );
}

function Holders({ holders }: { readonly holders: readonly HostMemoryHolder[] }) {
  return (
    <div class="holds-most">
      <h3>Who held most memory of the host</h3>
      <ol>
        {holders.slice(0, SHOWN_HOLDERS).map(({ line, owner, bytes, count, estimated }) => (
          <li key={`${line?.file}:${line?.line}/${owner}`}>
            <Bytes value={bytes} /> in {groupDigits(count)} blocks{estimated && ' (estimated)'}:{' '}
            {line ? <SourceLink frame={line} /> : owner}
          </li>
        ))}
      </ol>
      <button type="button" class="link" onClick={() => showDetails({ view: 'host' })}>
        All of them
      </button>
    </div>
  );
}

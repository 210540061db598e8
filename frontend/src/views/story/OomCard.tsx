import { opName } from '../../format/names';
import { formatDuration, formatMoment, formatWallClock } from '../../format/time';
import type { Oom } from '../../generated/datasets_pb';
import { relativeNs, type Target } from '../../store/target';
import { Bytes } from '../../ui/Bytes';
import { Coded } from '../../ui/Coded';
import { ExportMenu } from '../../ui/ExportMenu';
import { Keepers } from '../../ui/Keepers';
import { SourceBlock } from '../../ui/SourceLine';
import { showDetails } from '../../ui/showDetails';
import { Minimap } from '../timeline/Minimap';
import { BlockNeeds } from './BlockNeeds';
import { Evidence } from './Evidence';
import { oomExports } from './exports';
import { Fact } from './Fact';
import { FitPicture } from './FitPicture';
import { HoldsMost } from './HoldsMost';
import { Remedies } from './Remedies';
import { verdictTitle } from './verdict';

interface OomCardProps {
  readonly oom: Oom;
  readonly target: Target;
  /** Which of several it is. */
  readonly number: number | undefined;
}

/** One out-of-memory error. The first is told at once; later ones often only follow from it. */
export function OomCard({ oom, target, number }: OomCardProps) {
  if (number === undefined || number === 1) {
    return (
      <article class="card story out-of-memory" aria-labelledby={`oom-${oom.index}`}>
        <OomStory oom={oom} target={target} number={number} />
      </article>
    );
  }
  return (
    <details class="card story out-of-memory">
      <summary>
        <span class="badge oom">Out of memory {number}</span>{' '}
        {formatMoment(relativeNs(target, oom.timeNs))} ·{' '}
        {oom.request?.who || opName(oom.request?.opName ?? '')} asked for{' '}
        <Bytes value={oom.request?.requestedBytes ?? 0n} />
      </summary>
      <OomStory oom={oom} target={target} number={number} />
    </details>
  );
}

/** Who asked, what was free, why it did not fit, what to change. */
function OomStory({ oom, target, number }: OomCardProps) {
  const { request, verdict } = oom;
  const at = { kind: 'oom', index: oom.index } as const;
  const showIn = (view: 'map' | 'live') => () => showDetails({ at, view });
  return (
    <>
      <div class="story-kicker">
        <span class="badge oom">
          {number === undefined ? 'Out of memory' : `Out of memory ${number}`}
        </span>
        {verdict && <span class="badge kind">{verdictTitle(verdict.kind)}</span>}
        <span class="story-when" title={formatWallClock(oom.timeNs)}>
          {request && request.step >= 0n && <>step {String(request.step)} · </>}
          {formatMoment(relativeNs(target, oom.timeNs))} after the start
          {request && request.waitedNs > 0n && (
            <> · TensorFlow had waited {formatDuration(request.waitedNs)} for memory</>
          )}
          {target.allocator.device !== '' && <> · {target.allocator.device}</>}
        </span>
        <ExportMenu {...oomExports(oom, target)} />
      </div>
      <p class="story-request">
        <Coded text={oom.opening?.whatHappened ?? ''} />
        {oom.alsoRefused.length > 0 && (
          <> {oom.alsoRefused.length} more requests were refused at the same moment.</>
        )}
      </p>
      <h2 id={`oom-${oom.index}`} class="story-verdict">
        <Coded
          text={verdict?.sentence || 'The request did not fit, and the trace does not tell why.'}
        />
      </h2>
      <div class="story-columns">
        <Remedies remedies={oom.remedies} first={oom.opening?.remedies ?? 0} />
        <HoldsMost oom={oom} onMore={showIn('live')} />
        <div>
          {request?.source && <SourceBlock source={request.source} />}
          {oom.block && <BlockNeeds block={oom.block} module={request?.compiled?.module ?? ''} />}
          {oom.hasLayout && <FitPicture oom={oom} />}
          <div class="facts">
            <Fact label="In use" value={oom.inUseBytes} onClick={showIn('live')} />
            {oom.hasLayout && (
              <>
                <Fact label="Free in the pool" value={oom.freeBytes} onClick={showIn('map')} />
                <Fact label="Largest hole" value={oom.largestFreeBytes} onClick={showIn('map')} />
                <Fact
                  label="Pool may still grow by"
                  value={oom.growableBytes}
                  onClick={showIn('map')}
                />
              </>
            )}
            {oom.limitBytes > 0n && (
              <Fact
                label="Limit"
                value={oom.limitBytes}
                onClick={showIn(oom.hasLayout ? 'map' : 'live')}
              />
            )}
          </div>
        </div>
        <div>
          <figure class="story-moment">
            <Minimap target={target} height={72} />
            <figcaption>
              Memory in use over the whole recording, with the moment of each refusal
            </figcaption>
          </figure>
          <Keepers keepers={oom.keepers} ofBytes={oom.inUseBytes} />
          {verdict && <Evidence verdict={verdict} check={oom.dumpCheck} />}
        </div>
      </div>
    </>
  );
}

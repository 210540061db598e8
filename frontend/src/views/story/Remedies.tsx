import { type Remedy, Sufficiency } from '../../generated/datasets_pb';
import { Bytes } from '../../ui/Bytes';
import { CopyButton } from '../../ui/CopyButton';
import { KeeperChain } from '../../ui/Keepers';
import { SourceLink } from '../../ui/SourceLine';

interface RemediesProps {
  /** The best first. */
  readonly remedies: readonly Remedy[];
  /** How many of them the story begins with. */
  readonly first: number;
}

/** What to change, each with what it would give back. */
export function Remedies({ remedies, first }: RemediesProps) {
  if (remedies.length === 0) return null;
  const rest = remedies.slice(first);
  return (
    <div class="remedies">
      <h3>What to change</h3>
      <ol>
        {remedies.slice(0, first).map((remedy) => (
          <RemedyItem key={remedy.kind} remedy={remedy} />
        ))}
      </ol>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          <ol start={first + 1}>
            {rest.map((remedy) => (
              <RemedyItem key={remedy.kind} remedy={remedy} />
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

function RemedyItem({ remedy }: { readonly remedy: Remedy }) {
  return (
    <li class="remedy">
      <p class="remedy-title">
        <strong>{remedy.title}</strong>
        {remedy.bytes > 0n && (
          <span class="remedy-bytes">
            gives back <Bytes value={remedy.bytes} />
          </span>
        )}
        <Enough remedy={remedy} />
      </p>
      {remedy.detail !== '' && <p>{remedy.detail}</p>}
      {remedy.line && (
        <div class="source-block">
          <p>
            The line to change: <SourceLink frame={remedy.line} />
          </p>
          {remedy.line.text !== '' && <pre class="source-text">{remedy.line.text}</pre>}
        </div>
      )}
      {remedy.keeper.length > 0 && (
        <p>
          What keeps them: <KeeperChain chain={remedy.keeper} />
        </p>
      )}
      {remedy.code !== '' && (
        <div class="code-block">
          <pre>{remedy.code}</pre>
          <CopyButton text={remedy.code} label={`Copy the code of: ${remedy.title}`} />
        </div>
      )}
      {remedy.proof !== '' && (
        <details class="remedy-proof">
          <summary>How this was checked</summary>
          <p>{remedy.proof}</p>
        </details>
      )}
    </li>
  );
}

function Enough({ remedy }: { readonly remedy: Remedy }) {
  const kind =
    remedy.sufficiency === Sufficiency.ENOUGH_ALONE
      ? 'good'
      : remedy.sufficiency === Sufficiency.NOT_ENOUGH
        ? ''
        : 'partly';
  return <span class={`badge ${kind}`}>{remedy.howSure}</span>;
}

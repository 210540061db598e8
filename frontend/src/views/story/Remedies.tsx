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

/** What to do comes first; with code to paste, the reasons are for those who ask. */
function RemedyItem({ remedy }: { readonly remedy: Remedy }) {
  const { title, detail, bytes, code, line, keeper, proof } = remedy;
  const said = code === '' ? detail : '';
  const reasons = [code === '' ? '' : detail, proof].filter((text) => text !== '');
  return (
    <li class="remedy">
      <p class="remedy-title">
        <strong>{title}</strong>
        {bytes > 0n && (
          <span class="remedy-bytes">
            gives back <Bytes value={bytes} />
          </span>
        )}
        <Enough remedy={remedy} />
      </p>
      {said !== '' && <p>{said}</p>}
      {line && (
        <div class="source-block">
          <p>
            The line to change: <SourceLink frame={line} />
          </p>
          {line.text !== '' && <pre class="source-text">{line.text}</pre>}
        </div>
      )}
      {code !== '' && (
        <div class="code-block">
          <pre>{code}</pre>
          <CopyButton text={code} label={`Copy the code of: ${title}`} />
        </div>
      )}
      {reasons.length + keeper.length > 0 && (
        <details class="remedy-proof">
          <summary>Why, and how this was checked</summary>
          {reasons.map((text) => (
            <p key={text}>{text}</p>
          ))}
          {keeper.length > 0 && (
            <p>
              What keeps them: <KeeperChain chain={keeper} />
            </p>
          )}
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
  return remedy.howSure === '' ? null : <span class={`badge ${kind}`}>{remedy.howSure}</span>;
}

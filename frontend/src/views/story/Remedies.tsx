import { type Remedy, Sufficiency } from '../../generated/datasets_pb';
import { Bytes } from '../../ui/Bytes';
import { CopyButton } from '../../ui/CopyButton';
import { KeeperChain } from '../../ui/Keepers';
import { SourceLink } from '../../ui/SourceLine';

const SHOWN_AT_FIRST = 3;

/** What to change, the best first, each with what it would give back. */
export function Remedies({ remedies }: { readonly remedies: readonly Remedy[] }) {
  if (remedies.length === 0) return null;
  const rest = remedies.slice(SHOWN_AT_FIRST);
  return (
    <div class="remedies">
      <h3>What to change</h3>
      <ol>
        {remedies.slice(0, SHOWN_AT_FIRST).map((remedy) => (
          <RemedyItem key={remedy.kind} remedy={remedy} />
        ))}
      </ol>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          <ol start={SHOWN_AT_FIRST + 1}>
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
  switch (remedy.sufficiency) {
    case Sufficiency.ENOUGH_ALONE:
      return <span class="badge good">enough alone</span>;
    case Sufficiency.REQUEST_FITS:
      return <span class="badge partly">this request then fits</span>;
    case Sufficiency.UNCERTAIN:
      return <span class="badge partly">uncertain</span>;
    case Sufficiency.NOT_ENOUGH:
      return (
        <span class="badge">
          {remedy.with.length === 0
            ? 'not enough'
            : `not enough without ${remedy.with.map((kind) => kind.replaceAll('_', ' ')).join(' or ')}`}
        </span>
      );
    default:
      return null;
  }
}

import { lineName, placeName } from '../format/source';
import type { SourceFrame, SourceLocation } from '../generated/datasets_pb';
import { NO_FILTER } from '../store/selection';
import { showDetails } from './showDetails';

/** A line of the user's program that leads to all allocations of that line. */
export function SourceLink({ frame }: { readonly frame: SourceFrame }) {
  const { file, line, function: name } = frame;
  const filter = { ...NO_FILTER, file, line, codeFunction: name };
  return (
    <span class="source-line">
      <button
        type="button"
        class="link"
        title={`${file === '' ? 'The path was left out on request' : file}: show all allocations of this line`}
        onClick={() => showDetails({ view: 'live', filter })}
      >
        <code>{placeName(frame)}</code>
      </button>
      {name !== '' && name !== '<module>' && (
        <>
          {' '}
          in <code>{name}</code>
        </>
      )}
    </span>
  );
}

/** Where something was done, with the text of the line and the calls that led there. */
export function SourceBlock({ source }: { readonly source: SourceLocation }) {
  const { line, called, object, frames } = source;
  if (!line) return <LibraryOnly frames={frames} />;
  return (
    <div class="source-block">
      <p>
        <SourceLink frame={line} />
        {object !== '' && (
          <>
            {' '}
            makes <code>{object}</code>
          </>
        )}
        {called && (
          <>
            , called at <SourceLink frame={called} />
          </>
        )}
      </p>
      {line.text !== '' && <pre class="source-text">{line.text}</pre>}
      <Frames frames={frames} />
    </div>
  );
}

/** A call in which nothing is the user's. */
function LibraryOnly({ frames }: { readonly frames: readonly SourceFrame[] }) {
  if (frames.length === 0) return null;
  return (
    <div class="source-block">
      <p>No line of your own program led here.</p>
      <Frames frames={frames} />
    </div>
  );
}

function Frames({ frames }: { readonly frames: readonly SourceFrame[] }) {
  if (frames.length < 2) return null;
  return (
    <details class="source-frames">
      <summary>Show all frames</summary>
      <ol>
        {frames.map((frame, index) => (
          <li
            key={`${index}:${frame.file}:${frame.line}`}
            class={frame.isLibrary ? 'library' : ''}
            title={frame.file}
          >
            {frame.isLibrary ? <code>{lineName(frame)}</code> : <SourceLink frame={frame} />}
            {frame.text !== '' && <code class="source-text"> {frame.text}</code>}
          </li>
        ))}
      </ol>
    </details>
  );
}

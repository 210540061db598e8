import type { LibraryFailure } from '../../generated/datasets_pb';
import { Bytes } from '../../ui/Bytes';
import { Coded } from '../../ui/Coded';
import { verdictTitle } from './verdict';

/** A library of NVIDIA's that failed: whether it had no memory, and what to change. */
export function LibraryFailureCard({ failure }: { readonly failure: LibraryFailure }) {
  return (
    <article class="card story out-of-memory" aria-labelledby="library-failure">
      <div class="story-kicker">
        <span class="badge oom">{failure.library} failed</span>
        <span class="badge kind">{verdictTitle(failure.kind)}</span>
        {failure.totalBytes > 0n && (
          <span class="story-when">
            <Bytes value={failure.freeBytes} /> of <Bytes value={failure.totalBytes} /> were free
          </span>
        )}
      </div>
      <p class="story-request">{failure.error}</p>
      <h2 id="library-failure" class="story-verdict">
        <Coded text={failure.sentence} />
      </h2>
      <p>
        <Coded text={failure.remedy} />
      </p>
    </article>
  );
}

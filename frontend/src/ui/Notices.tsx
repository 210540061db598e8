/** What a view shows instead of data. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DatasetError } from '../data/source';
import { client, tryAgain } from '../store/session';

/** There is nothing to show: says why, and what to do about it. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="notice empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** Something went wrong: what, and a way to try again. */
export function Failed({ error }: { readonly error: DatasetError }) {
  return (
    <div class="notice failed" role="alert">
      <p>{error.message}</p>
      <button type="button" class="button" onClick={tryAgain}>
        Try again
      </button>
    </div>
  );
}

/** How often the converter is asked how far it is; who has waited so long may want to cancel. */
const POLL_MS = 400;

/** An answer is on its way; a big trace shows how much of it has been read. */
export function Waiting({ run, what }: { readonly run: string; readonly what: string }) {
  const [progress, setProgress] = useState<number>();
  const [long, setLong] = useState(false);
  useEffect(() => {
    const controller = new AbortController();
    const timer = window.setInterval(() => {
      setLong(true);
      client()
        .progress(run, controller.signal)
        .then(setProgress, () => setProgress(undefined));
    }, POLL_MS);
    return () => {
      controller.abort();
      window.clearInterval(timer);
    };
  }, [run]);
  const known = progress !== undefined && progress > 0 && progress < 1;
  return (
    <div class="notice waiting" role="status">
      <p>{known ? `Reading the trace: ${Math.round(progress * 100)} %` : what}</p>
      <div class="button-row">
        <progress {...(known ? { value: progress } : {})} aria-label={what} />
        {long && (
          <button type="button" class="button" onClick={() => client().cancel(run)}>
            Cancel
          </button>
        )}
      </div>
    </div>
  );
}

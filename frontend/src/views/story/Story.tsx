import { oomWindow } from '../../store/session';
import type { Target } from '../../store/target';
import { Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { LibraryFailureCard } from './LibraryFailureCard';
import { NoOomCard } from './NoOomCard';
import { OomCard } from './OomCard';

/** What happened, in one look: a card for each OOM, or how close it came to one. */
export function Story({ target }: { readonly target: Target }) {
  const known = oomWindow.value;
  const failure = target.host.libraryFailure;
  if (target.allocator.oomCount === 0n) {
    return (
      <>
        {failure && <LibraryFailureCard failure={failure} />}
        <NoOomCard target={target} />
      </>
    );
  }
  if (known.state === 'loading') {
    return <Waiting run={target.run} what="Looking into the out-of-memory error…" />;
  }
  if (known.state === 'failed') {
    return <Failed error={known.error} />;
  }
  const { quality } = known.value;
  // One card for requests that were refused together.
  const ooms = known.value.ooms.filter(({ index, incident }) => index === incident);
  return (
    <>
      {failure && <LibraryFailureCard failure={failure} />}
      {ooms.map((oom, place) => (
        <OomCard
          key={oom.index}
          oom={oom}
          target={target}
          number={ooms.length > 1 ? place + 1 : undefined}
        />
      ))}
      <QualityNotes quality={quality} />
    </>
  );
}

import { oomWindow } from '../../store/session';
import type { Target } from '../../store/target';
import { Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { DeathCard } from './DeathCard';
import { LibraryFailureCard } from './LibraryFailureCard';
import { NoOomCard } from './NoOomCard';
import { OomCard } from './OomCard';

/** What happened, in one look: a card for each OOM, or how close it came to one. */
export function Story({ target }: { readonly target: Target }) {
  const known = oomWindow.value;
  const failure = target.host.libraryFailure;
  const died = target.host.origin === 'death';
  const before = (
    <>
      {died && <DeathCard target={target} />}
      {failure && <LibraryFailureCard failure={failure} />}
    </>
  );
  if (target.allocator.oomCount === 0n) {
    return (
      <>
        {before}
        {!died && <NoOomCard target={target} />}
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
      {before}
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

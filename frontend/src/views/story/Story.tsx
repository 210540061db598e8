import type { Target } from '../../store/target';
import { Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { useOoms } from '../useMoment';
import { NoOomCard } from './NoOomCard';
import { OomCard } from './OomCard';

/** What happened, in one look: a card for each OOM, or how close it came to one. */
export function Story({ target }: { readonly target: Target }) {
  const asked = useOoms(target);
  if (target.allocator.oomCount === 0n) return <NoOomCard target={target} />;
  if (asked.error) return <Failed error={asked.error} retry={asked.retry} />;
  if (!asked.data) return <Waiting run={target.run} what="Looking into the out-of-memory error…" />;
  const { ooms, quality } = asked.data;
  return (
    <>
      {ooms.map((oom) => (
        <OomCard key={oom.index} oom={oom} target={target} many={ooms.length > 1} />
      ))}
      <QualityNotes quality={quality} />
    </>
  );
}

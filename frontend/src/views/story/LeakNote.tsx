import { LEAKS } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { select } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';

/** One line on whether something leaks, before it becomes an OOM. */
export function LeakNote({ target }: { readonly target: Target }) {
  const { data } = useDataset(LEAKS, { run: target.run, fields: { filter: filterOf(target) } });
  if (!data) return null;
  const count = data.leaks.length;
  if (count === 0) {
    return (
      <p class="story-leaks">
        {target.host.hasSteps
          ? 'Nothing grows from step to step.'
          : 'Whether something grows from step to step is not known: the trace has no training steps.'}
      </p>
    );
  }
  return (
    <p class="story-leaks story-doubt">
      <button type="button" class="link" onClick={() => select({ view: 'leaks' })}>
        {groupDigits(count)} {count === 1 ? 'place keeps' : 'places keep'} more memory with every
        step
      </button>
      .
    </p>
  );
}

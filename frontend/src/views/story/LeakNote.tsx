import { LEAKS } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import { groupDigits } from '../../format/bytes';
import { select } from '../../store/session';
import { filterOf, type Target } from '../../store/target';

/** One line where something leaks, before it becomes an OOM. */
export function LeakNote({ target }: { readonly target: Target }) {
  const { data } = useDataset(LEAKS, { run: target.run, fields: { filter: filterOf(target) } });
  const count = data?.leaks.length ?? 0;
  if (count === 0) return null;
  return (
    <p class="story-doubt">
      <button type="button" class="link" onClick={() => select({ view: 'leaks' })}>
        {groupDigits(count)} {count === 1 ? 'place keeps' : 'places keep'} more memory with every
        step
      </button>
      .
    </p>
  );
}

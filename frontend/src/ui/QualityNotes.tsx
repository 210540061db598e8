import { type Quality, Severity } from '../generated/datasets_pb';

/** What was lost, sampled or missing, beside the numbers that it touches. */
export function QualityNotes({ quality }: { readonly quality: readonly Quality[] }) {
  const notes = quality.filter(({ severity }) => severity !== Severity.INFO_ONLY);
  if (notes.length === 0) return null;
  return (
    <ul class="quality-notes">
      {notes.map((note) => (
        <li
          key={`${note.name}/${note.host}/${note.allocator}`}
          class={note.severity === Severity.ERROR ? 'error' : 'warning'}
        >
          <strong>{note.severity === Severity.ERROR ? 'Doubtful' : 'Incomplete'}</strong>{' '}
          {note.sentence}
        </li>
      ))}
    </ul>
  );
}

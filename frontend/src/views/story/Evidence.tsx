import { groupDigits } from '../../format/bytes';
import type { DumpCheck, Verdict } from '../../generated/datasets_pb';

interface EvidenceProps {
  readonly verdict: Verdict;
  readonly check: DumpCheck | undefined;
}

/** The numbers behind the verdict, its doubt, and whether the replay was checked. */
export function Evidence({ verdict, check }: EvidenceProps) {
  const said = new Set(verdict.evidence.map(({ sentence }) => sentence));
  const otherParts = verdict.parts.slice(1).filter(({ sentence }) => !said.has(sentence));
  return (
    <>
      {verdict.doubt !== '' && <p class="story-doubt">{verdict.doubt}</p>}
      {verdict.evidence.length > 0 && (
        <details class="evidence">
          <summary>Why we say so</summary>
          <ul>
            {verdict.evidence.map(({ name, sentence }) => (
              <li key={name}>{sentence}</li>
            ))}
            {otherParts.map(({ kind, sentence }) => (
              <li key={kind}>{sentence}</li>
            ))}
            {check?.hasDump && <li>{checkText(check)}</li>}
          </ul>
        </details>
      )}
    </>
  );
}

function checkText(check: DumpCheck): string {
  return check.equal
    ? `Checked: the replayed memory map equals TensorFlow's own dump in all ${groupDigits(check.chunks)} chunks.`
    : `The replayed memory map differs from TensorFlow's own dump in ${groupDigits(check.differentChunks)} of ${groupDigits(check.chunks)} chunks: ${check.difference}`;
}

import { formatBytes, groupDigits } from '../../format/bytes';
import type { Oom } from '../../generated/datasets_pb';
import { type FitBar, fitBars } from './fit';

/** The request beside the largest hole and all that was free, on one scale. */
export function FitPicture({ oom }: { readonly oom: Oom }) {
  const { bars, full } = fitBars(oom);
  return (
    <figure class="fit" aria-label="Would it have fit?">
      {bars.map((bar) => (
        <Bar key={bar.label} bar={bar} full={full} />
      ))}
      <figcaption>{fitSentence(oom)}</figcaption>
    </figure>
  );
}

function Bar({ bar, full }: { readonly bar: FitBar; readonly full: number }) {
  return (
    <div class="fit-row">
      <span class="fit-label">{bar.label}</span>
      <span class="fit-track">
        {bar.parts.map((part) => (
          <span
            key={part.kind}
            class={`fit-part ${part.kind}`}
            style={{ width: `${(100 * part.bytes) / full}%` }}
          />
        ))}
      </span>
      <span class="fit-value">{formatBytes(bar.bytes)}</span>
    </div>
  );
}

function fitSentence(oom: Oom): string {
  if (oom.verdict?.kind === 'EXTERNAL') {
    return 'The pool was allowed to grow that far, but the device had no room for it.';
  }
  return oom.fitsIfCompacted
    ? `Together the free memory was enough, but it lay in ${holeText(oom)}.`
    : 'Even in one piece the free memory was not enough.';
}

function holeText(oom: Oom): string {
  const holes = oom.measures?.freeChunkCount ?? 0n;
  return holes > 1n ? `${groupDigits(holes)} separate holes` : 'pieces';
}

import { useEffect, useState } from 'preact/hooks';
import { momentTimeNs, shownMoment } from '../../store/moment';
import { client, select } from '../../store/session';
import { relativeNs, type Target } from '../../store/target';
import { visibleRange } from '../../store/timeWindow';

const FRAME_MS = 120;
const FRAMES = 120;

/** Chooses a moment between two others; moves of the hand leave no trail behind the back button. */
export function showMoment(target: Target, time: number): void {
  const timeNs = target.originNs + BigInt(Math.max(0, Math.round(time)));
  select({ at: { kind: 'time', timeNs } }, 'replace');
}

/** The moment shown, in ns after the origin, if it is known. */
export function shownTime(target: Target): number | undefined {
  const timeNs = momentTimeNs(shownMoment(target), target);
  return timeNs === undefined ? undefined : relativeNs(target, timeNs);
}

/** Plays what is on screen from left to right, the map following. */
export function Play({ target }: { readonly target: Target }) {
  const [playing, setPlaying] = useState(false);
  const { from, to } = visibleRange(target);
  useEffect(() => {
    if (!playing) return;
    const step = (to - from) / FRAMES;
    const at = shownTime(target);
    let time = at !== undefined && at >= from && at < to - step ? at : from;
    const timer = window.setInterval(() => {
      // A frame is shown before the next one is asked for.
      if (client().busy) return;
      time += step;
      if (time > to) setPlaying(false);
      else showMoment(target, time);
    }, FRAME_MS);
    return () => window.clearInterval(timer);
  }, [playing, from, to]);
  return (
    <button type="button" class="button" onClick={() => setPlaying(!playing)}>
      {playing ? 'Pause' : 'Play'}
    </button>
  );
}

/** The moment as a slider under the picture, for the hand and for the arrow keys. */
export function Scrubber({ target }: { readonly target: Target }) {
  const { from, to } = visibleRange(target);
  const at = shownTime(target);
  return (
    <label class="film">
      <span class="visually-hidden">Moment</span>
      <input
        type="range"
        min={0}
        max={FRAMES * 10}
        value={at === undefined ? 0 : Math.round(((at - from) / (to - from)) * FRAMES * 10)}
        onInput={(event) =>
          showMoment(
            target,
            from + (Number(event.currentTarget.value) / (FRAMES * 10)) * (to - from),
          )
        }
      />
    </label>
  );
}

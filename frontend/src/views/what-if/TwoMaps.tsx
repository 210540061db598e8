import { useMemo } from 'preact/hooks';
import { paletteOf } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import type { WhatIfAnswer } from '../../generated/datasets_pb';
import { theme } from '../../store/theme';
import { Legend } from '../../ui/Legend';
import { mapColouring, PoolMap } from '../address-map/PoolMap';

const MOST_ROWS = 16;
const TITLES = ['Recorded', 'What if'] as const;

/** The pool as it was, and as it would have been, at the chosen moment, in the same colours. */
export function TwoMaps({ answer }: { readonly answer: WhatIfAnswer }) {
  const recorded = answer.recorded?.map;
  const asked = answer.asked?.map;
  const palette = paletteOf(theme.value);
  const colouring = useMemo(() => {
    const all = [...(recorded?.chunks ?? []), ...(asked?.chunks ?? [])];
    return mapColouring(all, 'scope', recorded?.timeNs ?? 0n, palette);
  }, [recorded, asked, palette]);
  if (!recorded || !asked || recorded.chunks.length + asked.chunks.length === 0) return null;
  return (
    <>
      <h3>The pool at the moment shown</h3>
      <Legend label="Colors" entries={colouring.legend} />
      <div class="compare-sides">
        {[answer.recorded, answer.asked].map((course, index) => (
          <div key={TITLES[index]}>
            <p class="hint">
              {TITLES[index]}: largest hole {formatBytes(course?.largestFreeBytes ?? 0n)}
            </p>
            <PoolMap
              label={`${TITLES[index]}: map of the pool.`}
              map={course?.map ?? recorded}
              shown={course?.map?.chunks ?? []}
              colouring={colouring}
              mostRows={MOST_ROWS}
              requestBytes={answer.recorded?.refused?.roundedBytes ?? 0n}
            />
          </div>
        ))}
      </div>
    </>
  );
}

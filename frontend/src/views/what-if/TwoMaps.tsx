import { useMemo, useState } from 'preact/hooks';
import { Canvas } from '../../chart/Canvas';
import { type Colouring, colouringOf } from '../../chart/colouring';
import { paletteOf } from '../../chart/palette';
import { formatBytes } from '../../format/bytes';
import type { AddressMap, Allocation, Chunk, WhatIfAnswer } from '../../generated/datasets_pb';
import { theme } from '../../store/theme';
import { ColourLegend } from '../../ui/ColourLegend';
import { ChunkText } from '../address-map/ChunkText';
import { drawMap, LABEL_WIDTH, mapHeight, rowAtHeight } from '../address-map/draw';
import { addressAt, chunkAt, largestHole, layOut, rangeOfRegion } from '../address-map/layout';

const MAX_ROWS = 16;
const NO_PINS: ReadonlySet<bigint> = new Set();

/** The pool as it was, and as it would have been, at the chosen moment, in the same colours. */
export function TwoMaps({ answer }: { readonly answer: WhatIfAnswer }) {
  const recorded = answer.recorded?.map;
  const asked = answer.asked?.map;
  const palette = paletteOf(theme.value);
  const colouring = useMemo(() => {
    const live = [recorded, asked].flatMap(
      (map) => map?.chunks.flatMap(({ allocation }) => allocation ?? []) ?? [],
    );
    return colouringOf(
      live,
      (allocation) => ({ ...allocation, ageNs: undefined }),
      ({ allocatedBytes }) => allocatedBytes,
      'scope',
      palette,
    );
  }, [recorded, asked, palette]);
  if (!recorded || !asked || recorded.chunks.length + asked.chunks.length === 0) return null;
  const request = answer.recorded?.refused?.roundedBytes ?? 0n;
  return (
    <>
      <h3>The pool at the moment shown</h3>
      <ColourLegend groups={colouring.legend} />
      <div class="compare-sides">
        <OneMap title="Recorded" map={recorded} colouring={colouring} requestBytes={request} />
        <OneMap title="What if" map={asked} colouring={colouring} requestBytes={request} />
      </div>
    </>
  );
}

interface OneMapProps {
  readonly title: string;
  readonly map: AddressMap;
  readonly colouring: Colouring<Allocation>;
  readonly requestBytes: bigint;
}

function OneMap({ title, map, colouring, requestBytes }: OneMapProps) {
  const [hovered, setHovered] = useState<Chunk>();
  const layout = useMemo(() => layOut(map.regions.map(rangeOfRegion), MAX_ROWS), [map]);
  const hole = useMemo(() => largestHole(map.chunks), [map]);
  const find = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const across = (event.clientX - box.left - LABEL_WIDTH) / (box.width - LABEL_WIDTH);
    const address = addressAt(rowAtHeight(layout, event.clientY - box.top), across, layout);
    setHovered(address === undefined ? undefined : chunkAt(map.chunks, address));
  };
  return (
    <div>
      <p class="hint">
        {title}: largest hole {formatBytes(hole?.sizeBytes ?? 0n)}
      </p>
      <Canvas
        height={mapHeight(layout)}
        label={`${title}: map of the pool`}
        draw={(surface) =>
          drawMap(surface, {
            map,
            shown: map.chunks,
            layout,
            colouring,
            hovered,
            hole,
            requestBytes,
            pins: NO_PINS,
          })
        }
        onPointerMove={find}
        onPointerLeave={() => setHovered(undefined)}
      />
      <ChunkText chunk={hovered} />
    </div>
  );
}

import { useMemo, useState } from 'preact/hooks';
import { Canvas } from '../../chart/Canvas';
import { type ColourBy, type Colouring, colouringOf } from '../../chart/colouring';
import type { Palette } from '../../chart/palette';
import type { AddressMap, Allocation, Chunk } from '../../generated/datasets_pb';
import { select } from '../../store/session';
import { arrowStep, besides } from '../../ui/keys';
import { ChunkText } from './ChunkText';
import { drawMap, LABEL_WIDTH, mapHeight, rowAtHeight } from './draw';
import { addressAt, chunkAt, largestHole, layOut, rangeOfRegion } from './layout';

interface PoolMapProps {
  readonly label: string;
  readonly map: AddressMap;
  /** The map's chunks, compiled blocks opened into their buffers. */
  readonly shown: readonly Chunk[];
  readonly colouring: Colouring<Allocation>;
  readonly mostRows: number;
  readonly requestBytes: bigint;
  /** Allocations whose release would have opened a big enough hole, by address. */
  readonly pins?: ReadonlySet<bigint>;
}

const NO_PINS: ReadonlySet<bigint> = new Set();

/** The picture of a pool: the pointer and the arrow keys go from chunk to chunk, a click opens one. */
export function PoolMap({
  label,
  map,
  shown,
  colouring,
  mostRows,
  requestBytes,
  pins = NO_PINS,
}: PoolMapProps) {
  const [hovered, setHovered] = useState<Chunk>();
  const layout = useMemo(() => layOut(map.regions.map(rangeOfRegion), mostRows), [map]);
  const hole = useMemo(() => largestHole(map.chunks), [map]);
  const find = ({ currentTarget, offsetX, offsetY }: PointerEvent) => {
    const { clientWidth } = currentTarget as HTMLElement;
    const across = (offsetX - LABEL_WIDTH) / (clientWidth - LABEL_WIDTH);
    const address = addressAt(rowAtHeight(layout, offsetY), across, layout);
    setHovered(address === undefined ? undefined : chunkAt(shown, address));
  };
  const open = () => {
    if (hovered?.allocation) select({ allocation: hovered.allocation.id });
  };
  return (
    <>
      <Canvas
        height={mapHeight(layout)}
        label={`${label} Left and right arrow keys go from chunk to chunk, Enter opens one.`}
        draw={(surface) =>
          drawMap(surface, { map, shown, layout, colouring, hovered, hole, requestBytes, pins })
        }
        onPointerMove={find}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={open}
        onKeyDown={(event) => {
          if (event.key === 'Enter') open();
          const step = arrowStep(event);
          if (step !== 0) setHovered(besides(shown, hovered, step));
        }}
      />
      <ChunkText chunk={hovered} />
    </>
  );
}

/** The colours of all that lies in some maps of one moment. */
export function mapColouring(
  chunks: readonly Chunk[],
  colourBy: ColourBy,
  timeNs: bigint,
  palette: Palette,
): Colouring<Allocation> {
  return colouringOf(
    chunks.flatMap(({ allocation }) => allocation ?? []),
    (allocation) => allocation,
    ({ baseline, bornNs }) => (baseline ? undefined : timeNs - bornNs),
    ({ allocatedBytes }) => allocatedBytes,
    colourBy,
    palette,
  );
}

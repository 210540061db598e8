import { useMemo, useState } from 'preact/hooks';
import { Canvas } from '../../chart/Canvas';
import { type ColourBy, colouringOf } from '../../chart/colouring';
import { paletteOf } from '../../chart/palette';
import { FRAGMENTATION } from '../../data/query';
import type {
  AddressMap as AddressMapData,
  AllocatorInfo,
  Chunk,
  Oom,
} from '../../generated/datasets_pb';
import { shownMomentQuery, shownOom } from '../../store/moment';
import { select } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { useDataset } from '../../store/useDataset';
import { BlockSwitch, keepsBlocksWhole } from '../../ui/BlockSwitch';
import { Card } from '../../ui/Card';
import { ColourLegend } from '../../ui/ColourLegend';
import { ColourSelect } from '../../ui/ColourSelect';
import { tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { TableOf } from '../../ui/TableOf';
import { ChunkText } from './ChunkText';
import { CHUNK_COLUMNS, opened } from './chunks';
import { drawMap, LABEL_WIDTH, mapHeight, rowAtHeight } from './draw';
import { addressAt, chunkAt, largestHole, layOut, rangeOfRegion } from './layout';
import { MapSummary } from './MapSummary';
import { type ChosenPoint, ProgramPoint } from './ProgramPoint';

const MAX_ROWS = 24;

/** What lies where in the pool at the chosen moment. */
export function AddressMap({ target }: { readonly target: Target }) {
  const at = shownMomentQuery(target);
  const [point, setPoint] = useState<ChosenPoint>();
  const asked = useDataset(
    FRAGMENTATION,
    at && {
      run: target.run,
      fields: {
        filter: { ...filterOf(target), wholeBlocks: keepsBlocksWhole() },
        at,
        columns: 1,
        ...(point && { module: point.module, programPoint: point.programPoint }),
      },
    },
  );
  const map = asked.data?.maps[0];
  const oom = shownOom(target);
  const [colourBy, setColourBy] = useState<ColourBy>('scope');
  return (
    <Card
      title="Address map"
      busy={asked.loading}
      note="Each row is the same number of bytes; regions of the pool begin a new row"
      actions={
        <>
          <BlockSwitch />
          <ColourSelect value={colourBy} onChange={setColourBy} />
        </>
      }
      exports={{
        name: 'address-map',
        table: () => tableText(CHUNK_COLUMNS, (map?.chunks ?? []).flatMap(opened)),
        question: asked.question,
      }}
    >
      {asked.error && <Failed error={asked.error} />}
      {!map && asked.loading && <Waiting run={target.run} what="Replaying up to this moment…" />}
      {asked.data && (!map || map.chunks.length === 0) && <NoMap target={target} />}
      {map && <ProgramPoint map={map} chosen={point} onPoint={setPoint} />}
      {map && map.chunks.length > 0 && <MapPicture map={map} oom={oom} colourBy={colourBy} />}
      {asked.data && <QualityNotes quality={asked.data.quality} />}
    </Card>
  );
}

interface MapPictureProps {
  readonly map: AddressMapData;
  readonly oom: Oom | undefined;
  readonly colourBy: ColourBy;
}

function MapPicture({ map, oom, colourBy }: MapPictureProps) {
  const [hovered, setHovered] = useState<Chunk>();
  const layout = useMemo(() => layOut(map.regions.map(rangeOfRegion), MAX_ROWS), [map]);
  const palette = paletteOf(theme.value);
  const shown = useMemo(() => map.chunks.flatMap(opened), [map]);
  const colouring = useMemo(() => {
    const live = shown.flatMap(({ allocation }) => allocation ?? []);
    return colouringOf(
      live,
      (allocation) => ({
        ...allocation,
        ageNs: allocation.baseline ? undefined : map.timeNs - allocation.bornNs,
      }),
      ({ allocatedBytes }) => allocatedBytes,
      colourBy,
      palette,
    );
  }, [map, colourBy, palette]);
  const hole = useMemo(() => largestHole(map.chunks), [map]);
  const pins = useMemo(
    () => new Set(oom?.pins[0]?.allocations.map(({ address }) => address)),
    [oom],
  );
  const requestBytes = oom?.request?.roundedBytes ?? 0n;
  const find = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const across = (event.clientX - box.left - LABEL_WIDTH) / (box.width - LABEL_WIDTH);
    const address = addressAt(rowAtHeight(layout, event.clientY - box.top), across, layout);
    setHovered(address === undefined ? undefined : chunkAt(shown, address));
  };
  const step = (event: KeyboardEvent) => {
    if (event.key === 'Enter') openLife(hovered);
    const move = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (move === 0) return;
    event.preventDefault();
    const at = hovered ? shown.indexOf(hovered) + move : 0;
    setHovered(shown[Math.min(Math.max(0, at), shown.length - 1)]);
  };
  return (
    <>
      <MapSummary map={map} hole={hole} requestBytes={requestBytes} pins={pins.size} />
      <ColourLegend groups={colouring.legend} />
      <Canvas
        height={mapHeight(layout)}
        label="Address map. Left and right arrow keys go from chunk to chunk, Enter opens one."
        draw={(surface) =>
          drawMap(surface, { map, shown, layout, colouring, hovered, hole, requestBytes, pins })
        }
        onPointerMove={find}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={() => openLife(hovered)}
        onKeyDown={step}
      />
      <ChunkText chunk={hovered} />
      <TableOf
        caption="Chunks in the order of their addresses"
        columns={CHUNK_COLUMNS}
        rows={shown}
        rowKey={({ address }) => String(address)}
      />
    </>
  );
}

/** Shows the life of the allocation in a chunk. */
function openLife(chunk: Chunk | undefined): void {
  if (chunk?.allocation) select({ allocation: chunk.allocation.id });
}

function NoMap({ target }: { readonly target: Target }) {
  return (
    <Empty title="No map for this moment">
      <p>{whyNoMap(target.allocator)}</p>
    </Empty>
  );
}

function whyNoMap({ hasLayout, hasAddresses }: AllocatorInfo): string {
  if (!hasLayout) {
    return 'This allocator has no pool: the driver of the device places each block, and does not say where.';
  }
  return hasAddresses
    ? 'Nothing had been reserved yet at this moment. Choose a later one in the timeline.'
    : 'This trace has no addresses. Record it with the OOM Forensics collector installed to see the map.';
}

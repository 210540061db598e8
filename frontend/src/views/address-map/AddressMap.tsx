import { useMemo, useState } from 'preact/hooks';
import { COLOURINGS, type ColourBy } from '../../chart/colouring';
import { paletteOf } from '../../chart/palette';
import { FRAGMENTATION } from '../../data/query';
import type { AddressMap as AddressMapData, AllocatorInfo, Oom } from '../../generated/datasets_pb';
import { shownMomentQuery, shownOom } from '../../store/moment';
import { filterOf, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { BlockSwitch, keepsBlocksWhole } from '../../ui/BlockSwitch';
import { tableText } from '../../ui/DataTable';
import { Legend } from '../../ui/Legend';
import { Empty } from '../../ui/Notices';
import { Select } from '../../ui/Select';
import { TableOf } from '../../ui/TableOf';
import { CHUNK_COLUMNS, opened } from './chunks';
import { MapSummary } from './MapSummary';
import { mapColouring, PoolMap } from './PoolMap';
import { type ChosenPoint, ProgramPoint } from './ProgramPoint';

const MOST_ROWS = 24;

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
  const [colourBy, setColourBy] = useState<ColourBy>('scope');
  return (
    <AnswerCard
      title="Address map"
      note="Each row is the same number of bytes; regions of the pool begin a new row"
      actions={
        <>
          <BlockSwitch />
          <Select label="Color by" value={colourBy} options={COLOURINGS} onChange={setColourBy} />
        </>
      }
      name="address-map"
      asked={asked}
      table={() => tableText(CHUNK_COLUMNS, (map?.chunks ?? []).flatMap(opened))}
    >
      {() =>
        map && map.chunks.length > 0 ? (
          <>
            <ProgramPoint map={map} chosen={point} onPoint={setPoint} />
            <MapPicture map={map} oom={shownOom(target)} colourBy={colourBy} />
          </>
        ) : (
          <Empty title="No map for this moment">
            <p>{whyNoMap(target.allocator)}</p>
          </Empty>
        )
      }
    </AnswerCard>
  );
}

interface MapPictureProps {
  readonly map: AddressMapData;
  readonly oom: Oom | undefined;
  readonly colourBy: ColourBy;
}

function MapPicture({ map, oom, colourBy }: MapPictureProps) {
  const palette = paletteOf(theme.value);
  const shown = useMemo(() => map.chunks.flatMap(opened), [map]);
  const colouring = useMemo(
    () => mapColouring(shown, colourBy, map.timeNs, palette),
    [map, colourBy, palette],
  );
  const pins = useMemo(
    () => new Set(oom?.pins[0]?.allocations.map(({ address }) => address)),
    [oom],
  );
  const requestBytes = oom?.request?.roundedBytes ?? 0n;
  return (
    <>
      <MapSummary map={map} requestBytes={requestBytes} pins={pins.size} />
      <Legend label="Colors" entries={colouring.legend} />
      <PoolMap
        label="Address map."
        map={map}
        shown={shown}
        colouring={colouring}
        mostRows={MOST_ROWS}
        requestBytes={requestBytes}
        pins={pins}
      />
      <TableOf
        caption="Chunks in the order of their addresses"
        columns={CHUNK_COLUMNS}
        rows={shown}
        rowKey={({ address }) => String(address)}
      />
    </>
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

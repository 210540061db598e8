import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Canvas, useWidth } from '../../chart/Canvas';
import { columnsFor } from '../../chart/window';
import { ADDRESS_HISTORY } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import { formatAddress, formatBytes } from '../../format/bytes';
import { opName } from '../../format/names';
import { formatMoment } from '../../format/time';
import type { AddressHistory, HistoryRectangle } from '../../generated/datasets_pb';
import { momentTimeNs, shownMoment, shownOom } from '../../store/moment';
import { select } from '../../store/session';
import { filterOf, relativeNs, type Target } from '../../store/target';
import { recordingLength, timeInteractions, visibleRange } from '../../store/timeWindow';
import { Card } from '../../ui/Card';
import { type DataColumn, tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { Select } from '../../ui/Select';
import { TableOf } from '../../ui/TableOf';
import { AddressMap } from '../address-map/AddressMap';
import { COLOURINGS, type ColourBy } from '../address-map/draw';
import { drawHistory } from './draw';
import { type Box, bandsOf } from './geometry';

const HEIGHT = 360;
const ROWS = 256;

/** The map over time, to be scrubbed like a film. */
export function History({ target }: { readonly target: Target }) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const [colourBy, setColourBy] = useState<ColourBy>('scope');
  const columns = columnsFor(visibleRange(target), recordingLength(target), width);
  const asked = useDataset(
    ADDRESS_HISTORY,
    width > 0
      ? {
          run: target.run,
          fields: {
            filter: {
              ...filterOf(target),
              fromNs: target.originNs + BigInt(columns.from),
              toNs: target.originNs + BigInt(columns.to),
            },
            columns: Math.min(columns.columns, 2048),
            rows: ROWS,
          },
        }
      : undefined,
  );
  const history = asked.data;
  return (
    <>
      <Card
        title="Addresses over time"
        note="Each rectangle is an allocation, from birth to death"
        busy={asked.loading}
        actions={
          <>
            <Film target={target} />
            <Select
              label="Colour by"
              value={colourBy}
              options={COLOURINGS}
              onChange={(value) => setColourBy(value as ColourBy)}
            />
          </>
        }
        exports={{
          name: 'address-history',
          table: () => tableText(tableColumns(history), history?.rectangles ?? []),
          question: asked.question,
        }}
      >
        <div ref={body}>
          {asked.error && <Failed error={asked.error} />}
          {!history && asked.loading && <Waiting run={target.run} what="Drawing the film…" />}
          {history && history.regions.length === 0 && <Empty title="This trace has no addresses" />}
          {history && history.regions.length > 0 && (
            <Picture target={target} history={history} colourBy={colourBy} />
          )}
          {history && <QualityNotes quality={history.quality} />}
        </div>
      </Card>
      <AddressMap target={target} />
    </>
  );
}

interface PictureProps {
  readonly target: Target;
  readonly history: AddressHistory;
  readonly colourBy: ColourBy;
}

function Picture({ target, history, colourBy }: PictureProps) {
  const placed = useRef<readonly (readonly [Box, HistoryRectangle])[]>([]);
  const [hovered, setHovered] = useState<HistoryRectangle>();
  const bands = useMemo(() => bandsOf(history), [history]);
  const visible = visibleRange(target);
  const interactions = timeInteractions(target);
  const oom = shownOom(target);
  const pins = useMemo(() => new Set(oom?.pins[0]?.allocations.map(({ id }) => id)), [oom]);
  const momentNs = momentTimeNs(shownMoment(target), target);
  const pick = (event: PointerEvent) => {
    const share = event.offsetX / (event.currentTarget as HTMLElement).clientWidth;
    interactions.onPick(visible.from + share * (visible.to - visible.from));
  };
  return (
    <>
      <Canvas
        height={HEIGHT}
        label="Addresses over time. Arrow keys move, plus and minus zoom."
        draw={(surface) => {
          const scene = {
            history,
            bands,
            originNs: target.originNs,
            visible,
            colourBy,
            momentNs,
            hovered,
            pins,
          };
          placed.current = drawHistory(surface, scene);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) pick(event);
          setHovered(rectangleAt(placed.current, event.offsetX, event.offsetY));
        }}
        onPointerDown={pick}
        onPointerLeave={() => setHovered(undefined)}
        onDblClick={() => hovered && select({ allocation: hovered.allocationId })}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') interactions.onPan(-0.1);
          else if (event.key === 'ArrowRight') interactions.onPan(0.1);
          else if (event.key === '+') interactions.onZoom((visible.from + visible.to) / 2, 0.5);
          else if (event.key === '-') interactions.onZoom((visible.from + visible.to) / 2, 2);
        }}
      />
      <p class="readout" aria-live="polite">
        {hovered
          ? rectangleText(hovered, history, target)
          : 'Drag across the picture: the map below follows. Double click an allocation for its life.'}
      </p>
      <TableOf
        caption="Addresses over time"
        columns={tableColumns(history)}
        rows={history.rectangles}
        rowKey={({ allocationId }) => String(allocationId)}
      />
    </>
  );
}

const FRAME_MS = 120;
const FRAMES = 120;

/** Plays what is on screen from left to right, the map following. */
function Film({ target }: { readonly target: Target }) {
  const [playing, setPlaying] = useState(false);
  const { from, to } = visibleRange(target);
  useEffect(() => {
    if (!playing) return;
    const began = momentTimeNs(shownMoment(target), target);
    const at = began === undefined ? from : relativeNs(target, began);
    let time = at >= from && at < to - (to - from) / FRAMES ? at : from;
    const timer = window.setInterval(() => {
      time += (to - from) / FRAMES;
      if (time > to) return setPlaying(false);
      select(
        { at: { kind: 'time', timeNs: target.originNs + BigInt(Math.round(time)) } },
        'replace',
      );
    }, FRAME_MS);
    return () => window.clearInterval(timer);
  }, [playing, from, to]);
  return (
    <button type="button" class="button" onClick={() => setPlaying(!playing)}>
      {playing ? 'Pause' : 'Play'}
    </button>
  );
}

function rectangleAt(
  placed: readonly (readonly [Box, HistoryRectangle])[],
  x: number,
  y: number,
): HistoryRectangle | undefined {
  return placed.findLast(
    ([box]) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
  )?.[1];
}

function rectangleText(
  { address, sizeBytes, bornNs, diedNs, site, step }: HistoryRectangle,
  history: AddressHistory,
  target: Target,
): string {
  return [
    opName(history.sites[site]?.opName ?? ''),
    `${formatBytes(sizeBytes)} at ${formatAddress(address)}`,
    `born ${formatMoment(relativeNs(target, bornNs), 1e3)}${step >= 0n ? ` in step ${step}` : ''}`,
    diedNs === 0n
      ? 'still live at the end'
      : `freed ${formatMoment(relativeNs(target, diedNs), 1e3)}`,
  ].join(' · ');
}

function tableColumns(
  history: AddressHistory | undefined,
): readonly DataColumn<HistoryRectangle>[] {
  return [
    { title: 'Address', text: ({ address }) => formatAddress(address) },
    { title: 'Size (bytes)', numeric: true, text: ({ sizeBytes }) => String(sizeBytes) },
    { title: 'Operation', text: ({ site }) => history?.sites[site]?.opName ?? '' },
    { title: 'Born (ns)', numeric: true, text: ({ bornNs }) => String(bornNs) },
    {
      title: 'Freed (ns)',
      numeric: true,
      text: ({ diedNs }) => (diedNs === 0n ? '' : String(diedNs)),
    },
  ];
}

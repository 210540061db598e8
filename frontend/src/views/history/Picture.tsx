import { create } from '@bufbuild/protobuf';
import { useMemo, useRef, useState } from 'preact/hooks';
import { Canvas } from '../../chart/Canvas';
import { type ColourBy, colouringOf } from '../../chart/colouring';
import { paletteOf } from '../../chart/palette';
import { onTimeKey } from '../../chart/timeKeys';
import { formatAddress, formatBytes } from '../../format/bytes';
import { opName } from '../../format/names';
import { formatMoment } from '../../format/time';
import {
  type AddressHistory,
  type HistoryRectangle,
  HistorySiteSchema,
} from '../../generated/datasets_pb';
import { shownOom } from '../../store/moment';
import { select } from '../../store/session';
import { relativeNs, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { timeInteractions, visibleRange } from '../../store/timeWindow';
import { Legend } from '../../ui/Legend';
import { coveragePicture, drawHistory } from './draw';
import { Scrubber, showMoment, shownTime } from './Film';
import { type Box, bandsOf, placedAt } from './geometry';

const HEIGHT = 360;
/** Pixels of a drag that are still a click. */
const CLICK_PIXELS = 3;

interface PictureProps {
  readonly target: Target;
  readonly history: AddressHistory;
  readonly colourBy: ColourBy;
}

/** Time to the right, addresses upwards: a drag scrubs, a click opens the life of an allocation. */
export function Picture({ target, history, colourBy }: PictureProps) {
  const placed = useRef<readonly (readonly [Box, HistoryRectangle])[]>([]);
  const pressedAt = useRef<number | undefined>(undefined);
  const [hovered, setHovered] = useState<HistoryRectangle>();
  const palette = paletteOf(theme.value);
  const bands = useMemo(() => bandsOf(history), [history]);
  const coverage = useMemo(() => coveragePicture(history, palette), [history, palette]);
  const colouring = useMemo(
    () =>
      colouringOf(
        history.rectangles,
        ({ site, step }) => {
          const { scope, opType, dtype, role } = history.sites[site] ?? NO_SITE;
          return { scope, opType, dtype, role, step };
        },
        ({ bornNs, diedNs }) => (diedNs === 0n ? target.endNs : diedNs) - bornNs,
        ({ sizeBytes }) => sizeBytes,
        colourBy,
        palette,
      ),
    [history, colourBy, palette, target],
  );
  const oom = shownOom(target);
  const pins = useMemo(() => new Set(oom?.pins[0]?.allocations.map(({ id }) => id)), [oom]);
  const visible = visibleRange(target);
  const interactions = timeInteractions(target);
  const scrub = (event: PointerEvent) => {
    const share = event.offsetX / (event.currentTarget as HTMLElement).clientWidth;
    showMoment(target, visible.from + share * (visible.to - visible.from));
  };
  const isClick = (event: PointerEvent) =>
    pressedAt.current !== undefined && Math.abs(event.offsetX - pressedAt.current) <= CLICK_PIXELS;
  return (
    <>
      <Legend label="Colors" entries={colouring.legend} />
      <Canvas
        height={HEIGHT}
        label="Addresses over time. Arrow keys move, plus and minus zoom; the slider below chooses the moment, the table the allocation."
        draw={(surface) => {
          placed.current = drawHistory(surface, {
            history,
            bands,
            originNs: target.originNs,
            visible,
            colouring,
            coverage,
            moment: shownTime(target),
            hovered,
            pins,
          });
        }}
        onPointerDown={(event) => {
          pressedAt.current = event.offsetX;
          (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1 && !isClick(event)) scrub(event);
          setHovered(placedAt(placed.current, event.offsetX, event.offsetY));
        }}
        onPointerUp={(event) => {
          const found = placedAt(placed.current, event.offsetX, event.offsetY);
          if (!isClick(event)) scrub(event);
          else if (found) select({ allocation: found.allocationId });
          else scrub(event);
          pressedAt.current = undefined;
        }}
        onPointerLeave={() => setHovered(undefined)}
        onWheel={(event) => {
          if (!event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          const share = event.offsetX / (event.currentTarget as HTMLElement).clientWidth;
          const centre = visible.from + share * (visible.to - visible.from);
          interactions.onZoom(centre, 2 ** (event.deltaY / 250));
        }}
        onKeyDown={(event) => onTimeKey(event, visible, interactions)}
      />
      <Scrubber target={target} />
      <p class="readout" aria-live="polite">
        {hovered
          ? rectangleText(hovered, history, target)
          : 'Drag across the picture: the map below follows. Click an allocation for its whole life. Grey: many small ones.'}
      </p>
    </>
  );
}

const NO_SITE = create(HistorySiteSchema);

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

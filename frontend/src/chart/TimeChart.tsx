import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { PLAIN_TIME, spreadTicks, type Warp } from '../data/warp';
import { formatBytes } from '../format/bytes';
import { formatMoment } from '../format/time';
import { theme } from '../store/theme';
import { useWidth } from './Canvas';
import { type Palette, paletteOf } from './palette';
import { byteTicks, timeTicks } from './ticks';
import { onTimeKey, type TimeActions } from './timeKeys';

export interface Line {
  readonly label: string;
  readonly colour: string;
  readonly fill?: string;
  readonly dash?: number[];
  readonly width?: number;
  readonly points?: boolean;
}

export interface TimeChartProps extends TimeActions {
  readonly height: number;
  /** The part of the x axis on screen, in ns after the origin. */
  readonly from: number;
  readonly to: number;
  /** Where moments lie on the x axis; as they are without. */
  readonly warp?: Warp;
  /** The top of the y axis, in the unit of `formatY`. */
  readonly top: number;
  /** Time first, then the values of each line. */
  readonly data: readonly Float64Array[];
  readonly lines: readonly Line[];
  /** Areas between two lines, by their places in `lines`. */
  readonly bands?: readonly {
    readonly upper: number;
    readonly lower: number;
    readonly fill: string;
  }[];
  readonly label: string;
  readonly formatY?: (value: number) => string;
  readonly ticksY?: (min: number, max: number, count: number) => number[];
  /** Draws below and above the lines, in the pixels of the canvas. */
  readonly drawUnder?: (plot: uPlot, palette: Palette) => void;
  readonly drawOver?: (plot: uPlot, palette: Palette) => void;
  /** Where the pointer is: index into the data and the moment; undefined: outside. */
  readonly onHover?: (at: { readonly index: number; readonly time: number } | undefined) => void;
  readonly onDrag?: (from: number, to: number) => void;
}

/** A chart over time on uPlot: drag, wheel and keys choose what is on screen. */
export function TimeChart(props: TimeChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const width = useWidth(container);
  const palette = paletteOf(theme.value);
  const paletteNow = useRef(palette);
  paletteNow.current = palette;
  const warp = props.warp ?? PLAIN_TIME;
  const shape = JSON.stringify([props.lines, props.bands, theme.value, props.height]);

  // Shape stands for what uPlot cannot change later
  useLayoutEffect(() => {
    if (!container.current || width === 0) return;
    const made = new uPlot(
      optionsFor(latest, paletteNow, width),
      latest.current.data as uPlot.AlignedData,
      container.current,
    );
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, warp, width > 0]);

  useLayoutEffect(() => {
    const made = plot.current;
    if (!made || width === 0) return;
    if (made.width !== width) made.setSize({ width, height: props.height });
    made.batch(() => {
      if (made.data !== props.data) made.setData(props.data as uPlot.AlignedData, false);
      made.setScale('x', { min: props.from, max: props.to });
      made.setScale('y', { min: 0, max: props.top });
    });
    made.redraw(false, true);
  });

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      const made = plot.current;
      if (!made) return;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        latest.current.onPan?.((event.deltaX || event.deltaY) / 600);
      } else if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const x = event.clientX - made.over.getBoundingClientRect().left;
        latest.current.onZoom?.(made.posToVal(x, 'x'), 2 ** (event.deltaY / 250));
      }
    };
    // Not passive: zooming has to keep the page from scrolling.
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);

  return (
    <div
      ref={container}
      class="time-chart"
      style={{ height: `${props.height}px` }}
      // The picture is worked by keyboard
      tabIndex={0}
      role="img"
      aria-label={props.label}
      onKeyDown={(event) => onTimeKey(event, latest.current, latest.current)}
    />
  );
}

/** Pixels of a drag that are still a click. */
const CLICK_PIXELS = 4;

function optionsFor(
  latest: { readonly current: TimeChartProps },
  palette: { readonly current: Palette },
  width: number,
): uPlot.Options {
  const props = latest.current;
  const colours = palette.current;
  const warp = props.warp ?? PLAIN_TIME;
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const axis = {
    stroke: colours.mutedText,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1, size: 4 },
    font: '12px Roboto, "Helvetica Neue", Arial, sans-serif',
  };
  return {
    width,
    height: props.height,
    legend: { show: false },
    padding: [10, 16, 0, 0],
    scales: {
      x: {
        time: false,
        auto: false,
        min: props.from,
        max: props.to,
        ...(warp !== PLAIN_TIME && { distr: 100, fwd: warp.toAxis, bwd: warp.toTime }),
      },
      y: { auto: false, min: 0, max: props.top },
    },
    axes: [
      {
        ...axis,
        size: 28,
        splits: (plot, _axis, min, max) => {
          const count = plot.bbox.width / devicePixelRatio / 110;
          return warp === PLAIN_TIME
            ? timeTicks(min, max, count)
            : spreadTicks(warp, min, max, count);
        },
        // Without it uPlot keeps of a scale of our own only the labels that suit a logarithm's.
        filter: (_plot, splits) => splits,
        values: (_plot, splits) => {
          const steps = splits.slice(1).map((split, index) => split - (splits[index] as number));
          const step = steps.length > 0 ? Math.min(...steps) : 1e6;
          return splits.map((tick) => formatMoment(tick, step));
        },
      },
      {
        ...axis,
        size: 78,
        splits: (plot, _axis, min, max) =>
          (latest.current.ticksY ?? byteTicks)(min, max, plot.bbox.height / devicePixelRatio / 34),
        values: (_plot, splits) => splits.map(latest.current.formatY ?? formatBytes),
      },
    ],
    series: [
      {},
      ...props.lines.map((line) => ({
        label: line.label,
        stroke: line.colour,
        width: line.width ?? 1.5,
        ...(line.fill && { fill: line.fill }),
        ...(line.dash && { dash: line.dash }),
        ...(stepped && { paths: stepped }),
        points: { show: line.points ?? false, size: 5, fill: line.colour },
      })),
    ],
    bands: (props.bands ?? []).map(({ upper, lower, fill }) => ({
      series: [upper + 1, lower + 1],
      fill,
    })),
    cursor: {
      drag: { x: true, y: false, setScale: false },
      points: { size: 7 },
    },
    hooks: {
      drawClear: [(plot) => latest.current.drawUnder?.(plot, palette.current)],
      draw: [(plot) => latest.current.drawOver?.(plot, palette.current)],
      setCursor: [
        (plot) => {
          const { idx, left } = plot.cursor;
          const outside = idx == null || left === undefined || left < 0;
          latest.current.onHover?.(
            outside ? undefined : { index: idx, time: plot.posToVal(left, 'x') },
          );
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width: dragged } = plot.select;
          if (dragged > CLICK_PIXELS) {
            latest.current.onDrag?.(plot.posToVal(left, 'x'), plot.posToVal(left + dragged, 'x'));
          }
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      ready: [
        (plot) => {
          let pressedAt = 0;
          plot.over.addEventListener('mousedown', (event) => {
            pressedAt = event.clientX;
          });
          plot.over.addEventListener('click', (event) => {
            if (Math.abs(event.clientX - pressedAt) > CLICK_PIXELS) return;
            latest.current.onPick?.(plot.posToVal(event.offsetX, 'x'));
          });
          plot.over.addEventListener('dblclick', () => latest.current.onReset?.());
        },
      ],
    },
  };
}

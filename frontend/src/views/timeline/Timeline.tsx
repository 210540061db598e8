import { useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../chart/Canvas';
import { paletteOf } from '../../chart/palette';
import { TimeChart } from '../../chart/TimeChart';
import { MEMORY_TIMELINE } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import type { TimelineSeries } from '../../generated/datasets_pb';
import { momentTimeNs, shownMoment } from '../../store/moment';
import { select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { Card } from '../../ui/Card';
import { Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { drawMarks, drawSteps } from './draw';
import { Legend } from './Legend';
import { timelineArrays, topOfAxis } from './model';
import { Readout } from './Readout';
import { clampRange, columnsFor, panRange, type Range, zoomRange } from './window';

const HEIGHT = 260;

/** In use, reserved and limit over time: from the whole run to single events. */
export function Timeline({ target }: { readonly target: Target }) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const end = Number(target.endNs - target.originNs);
  const visible = visibleRange(target, end);
  const columns = columnsFor(visible, end, width);
  const asked = useDataset(
    MEMORY_TIMELINE,
    width > 0
      ? {
          run: target.run,
          fields: {
            filter: {
              ...filterOf(target),
              fromNs: target.originNs + BigInt(columns.from),
              toNs: target.originNs + BigInt(columns.to),
            },
            columns: columns.columns,
          },
        }
      : undefined,
  );
  const series = asked.data?.series[0];
  const zoomed = selection.value.window !== undefined;
  return (
    <Card
      title="Memory over time"
      busy={asked.loading}
      note="Drag to zoom, click to choose a moment, Ctrl + wheel or arrow keys to move"
      actions={
        <button
          type="button"
          class="button"
          disabled={!zoomed}
          onClick={() => select({ window: undefined })}
        >
          Whole recording
        </button>
      }
    >
      <div ref={body}>
        {asked.error && <Failed error={asked.error} retry={asked.retry} />}
        {!series && asked.loading && <Waiting run={target.run} what="Reading the timeline…" />}
        {series && <Chart target={target} series={series} visible={visible} end={end} />}
        {asked.data && <QualityNotes quality={asked.data.quality} />}
      </div>
    </Card>
  );
}

interface ChartProps {
  readonly target: Target;
  readonly series: TimelineSeries;
  readonly visible: Range;
  readonly end: number;
}

function Chart({ target, series, visible, end }: ChartProps) {
  const [hover, setHover] = useState<number>();
  const momentNs = momentTimeNs(shownMoment(target), target);
  const palette = paletteOf(theme.value);
  const arrays = useMemo(() => timelineArrays(series, target.originNs), [series, target.originNs]);
  const data = useMemo(
    () => [arrays.time, arrays.reserved, arrays.inUseMax, arrays.inUseMin],
    [arrays],
  );
  const scene = { series, originNs: target.originNs, momentNs };
  const show = (range: Range) => showRange(range, target, end);
  return (
    <>
      <Legend />
      <TimeChart
        height={HEIGHT}
        from={visible.from}
        to={visible.to}
        top={topOfAxis(series)}
        data={data}
        lines={[
          { label: 'reserved', colour: palette.reserved, fill: palette.reservedFill },
          { label: 'in use, highest', colour: palette.inUse, points: arrays.events !== undefined },
          { label: 'in use, lowest', colour: 'transparent', fill: palette.inUseFill, width: 0 },
        ]}
        bands={[{ upper: 1, lower: 2, fill: palette.inUseFill }]}
        label="Memory over time. Arrow keys move and zoom, Home shows the whole recording, Enter chooses the moment in the middle."
        drawUnder={(plot, colours) => drawSteps(plot, colours, scene)}
        drawOver={(plot, colours) => drawMarks(plot, colours, scene)}
        onHover={(at) => setHover(at?.index)}
        onPick={(time) =>
          select({
            at: { kind: 'time', timeNs: target.originNs + BigInt(Math.max(0, Math.round(time))) },
          })
        }
        onDrag={(from, to) => show({ from, to })}
        onReset={() => select({ window: undefined })}
        onZoom={(centre, factor) => show(zoomRange(visible, centre, factor, end))}
        onPan={(share) => show(panRange(visible, share, end))}
      />
      <Readout arrays={arrays} index={hover} series={series} />
    </>
  );
}

function visibleRange(target: Target, end: number): Range {
  const { window } = selection.value;
  if (!window) return { from: 0, to: Math.max(1, end) };
  return clampRange(
    { from: Number(window.fromNs - target.originNs), to: Number(window.toNs - target.originNs) },
    end,
  );
}

/** Moves of the hand do not fill the back button's history. */
function showRange(range: Range, target: Target, end: number): void {
  const { from, to } = clampRange(range, end);
  const whole = from <= 0 && to >= end;
  select(
    {
      window: whole
        ? undefined
        : {
            fromNs: target.originNs + BigInt(Math.floor(from)),
            toNs: target.originNs + BigInt(Math.ceil(to)),
          },
    },
    'replace',
  );
}

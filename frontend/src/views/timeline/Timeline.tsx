import { useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../chart/Canvas';
import { paletteOf } from '../../chart/palette';
import { TimeChart } from '../../chart/TimeChart';
import { columnsFor } from '../../chart/window';
import { MEMORY_TIMELINE } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import type { TimelineSeries } from '../../generated/datasets_pb';
import { momentTimeNs, shownMoment } from '../../store/moment';
import { select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { recordingLength, timeInteractions, visibleRange } from '../../store/timeWindow';
import { Card } from '../../ui/Card';
import { Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { drawMarks, drawSteps } from './draw';
import { Legend } from './Legend';
import { timelineArrays, topOfAxis } from './model';
import { Readout } from './Readout';

const HEIGHT = 260;

/** In use, reserved and limit over time: from the whole run to single events. */
export function Timeline({ target }: { readonly target: Target }) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const columns = columnsFor(visibleRange(target), recordingLength(target), width);
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
        {series && <Chart target={target} series={series} />}
        {asked.data && <QualityNotes quality={asked.data.quality} />}
      </div>
    </Card>
  );
}

interface ChartProps {
  readonly target: Target;
  readonly series: TimelineSeries;
}

function Chart({ target, series }: ChartProps) {
  const [hover, setHover] = useState<number>();
  const momentNs = momentTimeNs(shownMoment(target), target);
  const palette = paletteOf(theme.value);
  const arrays = useMemo(() => timelineArrays(series, target.originNs), [series, target.originNs]);
  const data = useMemo(
    () => [arrays.time, arrays.reserved, arrays.inUseMax, arrays.inUseMin],
    [arrays],
  );
  const scene = { series, originNs: target.originNs, momentNs };
  return (
    <>
      <Legend />
      <TimeChart
        {...timeInteractions(target)}
        height={HEIGHT}
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
      />
      <Readout arrays={arrays} index={hover} series={series} />
    </>
  );
}

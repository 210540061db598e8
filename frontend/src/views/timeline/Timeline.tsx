import { useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../chart/Canvas';
import { paletteOf } from '../../chart/palette';
import { TimeChart } from '../../chart/TimeChart';
import { DRIVER_MEMORY, MEMORY_TIMELINE } from '../../data/query';
import type { Warp } from '../../data/warp';
import { columnsFor } from '../../data/window';
import {
  type DriverSeries,
  GroupBy,
  type TimelineColumn,
  type TimelineSeries,
} from '../../generated/datasets_pb';
import { momentTimeNs, shownMoment } from '../../store/moment';
import { select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { theme } from '../../store/theme';
import { AXES, activityOf, chooseAxis, shownAxis, warpOf } from '../../store/timeAxis';
import { recordingLength, showRange, timeInteractions, visibleRange } from '../../store/timeWindow';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { numberColumn, timeColumn } from '../../ui/columns';
import { type DataColumn, tableText } from '../../ui/DataTable';
import { Legend } from '../../ui/Legend';
import { Select } from '../../ui/Select';
import { TableOf } from '../../ui/TableOf';
import { GROUPINGS } from '../holders/groupings';
import { deviceArrays, deviceUnder } from './device';
import { drawMarks, drawSteps } from './draw';
import { failingRange } from './failing';
import { legendEntries } from './legend';
import { drawnLines } from './lines';
import { Minimap, useOverview } from './Minimap';
import { timelineArrays, topOfAxis } from './model';
import { Readout } from './Readout';
import { stackOf } from './stack';

const HEIGHT = 250;
/** More areas are not told apart. */
const STACKED = 10;
/** Columns beyond this many times the pixels are not worth asking for. */
const MOST_CROWDED = 8;

/** In use, requested, reserved, limit and the device under it over time: from the whole run to single events. */
export function Timeline({ target }: { readonly target: Target }) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const { stackBy, window } = selection.value;
  const overview = useOverview(target).data?.series[0];
  const end = recordingLength(target);
  const axis = shownAxis(activityOf(overview, target.originNs), end);
  const warp = useMemo(() => warpOf(overview, target), [overview, target, axis]);
  const visible = visibleRange(target);
  const columns = columnsFor(visible, end, width * crowding(visible, warp));
  const table = useMemo(() => tableColumns(target), [target]);
  const filter = {
    ...filterOf(target),
    fromNs: target.originNs + BigInt(columns.from),
    toNs: target.originNs + BigInt(columns.to),
  };
  const asked = useDataset(
    MEMORY_TIMELINE,
    width > 0
      ? {
          run: target.run,
          fields: {
            filter,
            columns: columns.columns,
            ...(stackBy !== GroupBy.GROUP_NONE && { groupBy: stackBy, top: STACKED }),
          },
        }
      : undefined,
  );
  // Only a host that looked at a device has anything to say about one.
  const driver = useDataset(
    DRIVER_MEMORY,
    width > 0 && target.host.cuptiMode !== ''
      ? { run: target.run, fields: { filter, columns: columns.columns } }
      : undefined,
  );
  const series = asked.data?.series[0];
  const failing = overview && failingRange(overview, target.originNs);
  const goToFailure = failing && (() => showRange(failing, target));
  const device =
    driver.data && deviceUnder(driver.data, target.host.host, target.allocator.allocator);

  return (
    <AnswerCard
      title="Memory over time"
      note="Drag to zoom, click to choose a moment, Ctrl + wheel or arrow keys to move"
      actions={
        <>
          <Select
            label="Stack by"
            value={stackBy}
            options={STACKINGS}
            onChange={(chosen) => select({ stackBy: chosen }, 'replace')}
          />
          <Select label="Axis" value={axis} options={AXES} onChange={chooseAxis} />
          {goToFailure && (
            <button type="button" class="button" title="Key: f" onClick={goToFailure}>
              Failing step
            </button>
          )}
          <button
            type="button"
            class="button"
            disabled={window === undefined}
            onClick={() => select({ window: undefined })}
          >
            Whole recording
          </button>
        </>
      }
      name="timeline"
      asked={asked}
      body={body}
      table={() => tableText(table, series?.columns ?? [])}
      waiting="Reading the timeline…"
    >
      {() =>
        series && (
          <>
            <Chart
              target={target}
              series={series}
              device={device}
              warp={warp}
              onFailure={goToFailure}
            />
            <Minimap target={target} height={34} />
            <TableOf
              caption="Memory over time"
              columns={table}
              rows={series.columns}
              rowKey={({ timeNs }) => String(timeNs)}
            />
          </>
        )
      }
    </AnswerCard>
  );
}

/** The finest columns are needed where the axis gives most room to time. */
function crowding(
  { from, to }: { readonly from: number; readonly to: number },
  warp: Warp,
): number {
  const PARTS = 64;
  const step = (warp.toAxis(to) - warp.toAxis(from)) / PARTS;
  let least = to - from;
  for (let part = 0; part < PARTS; part += 1) {
    const begin = warp.toAxis(from) + part * step;
    least = Math.min(least, warp.toTime(begin + step) - warp.toTime(begin));
  }
  return Math.min(MOST_CROWDED, (to - from) / PARTS / Math.max(least, 1));
}

/** What can be stacked: groups that are the same through the life of an allocation. */
const STACKINGS = [
  { value: GroupBy.GROUP_NONE, label: 'nothing' },
  ...GROUPINGS.filter(({ value }) =>
    [
      GroupBy.GROUP_SCOPE,
      GroupBy.GROUP_ROLE,
      GroupBy.GROUP_OP,
      GroupBy.GROUP_OP_TYPE,
      GroupBy.GROUP_DTYPE,
      GroupBy.GROUP_REPLICA,
    ].includes(value),
  ),
];

interface ChartProps {
  readonly target: Target;
  readonly series: TimelineSeries;
  readonly device: DriverSeries | undefined;
  readonly warp: Warp;
  readonly onFailure: (() => void) | undefined;
}

function Chart({ target, series, device, warp, onFailure }: ChartProps) {
  const [hover, setHover] = useState<number>();
  const momentNs = momentTimeNs(shownMoment(target), target);
  const palette = paletteOf(theme.value);
  const arrays = useMemo(() => timelineArrays(series, target.originNs), [series, target.originNs]);
  const stack = useMemo(
    () => stackOf(series, target.originNs, arrays.time),
    [series, target.originNs, arrays],
  );
  const under = useMemo(
    () => device && deviceArrays(device, target.originNs, arrays.time, arrays.reserved),
    [device, target.originNs, arrays],
  );
  const drawn = useMemo(
    () => drawnLines(arrays, stack, under, palette),
    [arrays, stack, under, palette],
  );
  const scene = { series, originNs: target.originNs, momentNs, device: under, gaps: warp.gaps };
  return (
    <>
      <Legend entries={legendEntries(series, stack.keys, device, palette)} />
      <TimeChart
        {...timeInteractions(target, warp)}
        onFailure={onFailure}
        warp={warp}
        height={HEIGHT}
        top={topOfAxis(series, under)}
        {...drawn}
        label="Memory over time. Arrow keys move and zoom, Home shows the whole recording, f the step that failed, Enter chooses the moment in the middle."
        drawUnder={(plot, colours) => drawSteps(plot, colours, scene)}
        drawOver={(plot, colours) => drawMarks(plot, colours, scene)}
        onHover={(at) => setHover(at?.index)}
      />
      <Readout arrays={arrays} index={hover} series={series} device={under} />
    </>
  );
}

function tableColumns(target: Target): readonly DataColumn<TimelineColumn>[] {
  return [
    timeColumn(target),
    numberColumn('Lowest in use (bytes)', ({ inUseMinBytes }) => inUseMinBytes),
    numberColumn('Highest in use (bytes)', ({ inUseMaxBytes }) => inUseMaxBytes),
    numberColumn('Requested (bytes)', ({ requestedMaxBytes }) => requestedMaxBytes),
    numberColumn('Reserved (bytes)', ({ reservedMaxBytes }) => reservedMaxBytes),
    numberColumn('Live', ({ liveMaxCount }) => liveMaxCount),
    numberColumn('Events', ({ events }) => events),
  ];
}

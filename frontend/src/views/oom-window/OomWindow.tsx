import { questionOf } from '../../data/client';
import { OOM_WINDOW } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import { opName } from '../../format/names';
import { formatMoment } from '../../format/time';
import { EventKind, type TimelineEvent } from '../../generated/datasets_pb';
import { type ChosenMoment, oomsOf, shownMoment, shownOom } from '../../store/moment';
import { select } from '../../store/session';
import { filterOf, relativeNs, type Target } from '../../store/target';
import { Card } from '../../ui/Card';
import {
  addressColumn,
  bytesColumn,
  numberColumn,
  operationColumn,
  textColumn,
} from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty } from '../../ui/Notices';
import { AddressMap } from '../address-map/AddressMap';
import { eventName } from '../timeline/model';

/** The last events before an OOM, one by one, with the map after each. */
export function OomWindow({ target }: { readonly target: Target }) {
  const at = shownMoment(target);
  const oom = shownOom(target) ?? oomsOf(target)[0];
  if (!oom) return <Empty title="No out-of-memory error in this allocator" />;
  const { recent } = oom;
  const place = placeOf(at, recent);
  const columns = eventColumns(target);
  const stepTo = (next: number) => {
    const event = recent[Math.min(Math.max(0, next), recent.length - 1)];
    if (event) select({ at: { kind: 'event', event: event.index } }, 'replace');
  };
  return (
    <>
      <Card
        title="The last events before it"
        note={`${groupDigits(recent.length)} events, the map below shows the state after the chosen one`}
        actions={
          <>
            <button
              type="button"
              class="button"
              disabled={place <= 0}
              onClick={() => stepTo(place - 1)}
            >
              Step back
            </button>
            <button
              type="button"
              class="button"
              disabled={place >= recent.length - 1}
              onClick={() => stepTo(place + 1)}
            >
              Step forward
            </button>
          </>
        }
        exports={{
          name: 'oom-window',
          table: () => tableText(columns, recent),
          question: questionOf(OOM_WINDOW, target.run, { filter: filterOf(target) }),
        }}
      >
        {recent.length > 0 && (
          <label class="film">
            <span class="visually-hidden">Event</span>
            <input
              type="range"
              min={0}
              max={recent.length - 1}
              value={place}
              onInput={(event) => stepTo(Number(event.currentTarget.value))}
            />
          </label>
        )}
        <DataTable
          caption="The last events before the out-of-memory error"
          columns={columns}
          rows={recent.toReversed()}
          rowKey={({ index }) => String(index)}
          selected={({ index }) => index === recent[place]?.index}
        />
      </Card>
      <AddressMap target={target} />
    </>
  );
}

/** Where the shown moment is in the list; the last event where it is not in it. */
export function placeOf(at: ChosenMoment, recent: readonly TimelineEvent[]): number {
  const found = at.kind === 'event' ? recent.findIndex(({ index }) => index === at.event) : -1;
  return found < 0 ? recent.length - 1 : found;
}

function eventColumns(target: Target): readonly DataColumn<TimelineEvent>[] {
  return [
    {
      ...numberColumn('Time', ({ timeNs }) => timeNs),
      cell: ({ index, timeNs }) => (
        <button
          type="button"
          class="link"
          title="Show the map after this event"
          onClick={() => select({ at: { kind: 'event', event: index } }, 'replace')}
        >
          {formatMoment(relativeNs(target, timeNs), 1)}
        </button>
      ),
    },
    textColumn('What', ({ kind }) => eventName(kind)),
    bytesColumn('Bytes', ({ bytes }) => bytes),
    operationColumn(
      ({ opName: name }) => opName(name),
      ({ kind, allocationId }) =>
        kind === EventKind.EVENT_ALLOC || kind === EventKind.EVENT_FREE ? allocationId : undefined,
    ),
    bytesColumn('Then in use', ({ inUseBytes }) => inUseBytes),
    addressColumn(({ address }) => address),
  ];
}

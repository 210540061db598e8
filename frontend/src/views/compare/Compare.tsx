import { COMPARE, INFO } from '../../data/query';
import { type Ask, useDataset } from '../../data/useDataset';
import { formatDelta, groupDigits } from '../../format/bytes';
import { type CompareRow, type CompareSide, GroupBy } from '../../generated/datasets_pb';
import { decodeMoment, encodeMoment } from '../../store/link';
import {
  type ChosenMoment,
  momentName,
  momentQuery,
  oomsOf,
  shownMoment,
  shownMomentQuery,
} from '../../store/moment';
import { NOTHING_CHOSEN } from '../../store/selection';
import { runs, select, selection } from '../../store/session';
import { filterOf, type Target } from '../../store/target';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { bytesColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { Select } from '../../ui/Select';
import { GROUPINGS } from '../holders/groupings';

const MOST_ROWS = 500;

/** What grew, what went and what is new between the moment shown and another, here or elsewhere. */
export function Compare({ target }: { readonly target: Target }) {
  const asked = useDataset(COMPARE, comparison(target));
  const answer = asked.data;
  const shown = momentName(shownMoment(target), target);
  const other = momentName(otherMoment(), target);
  const names = isElsewhere(target) ? [shown, other] : [other, shown];
  return (
    <Card
      title="Compare"
      busy={asked.loading}
      actions={<Choices target={target} />}
      exports={{
        name: 'compare',
        table: () => tableText(COLUMNS, answer?.rows ?? []),
        question: asked.question,
      }}
    >
      {asked.error && <Failed error={asked.error} />}
      {!answer && asked.loading && <Waiting run={target.run} what="Comparing…" />}
      {answer && (
        <>
          <div class="compare-sides">
            <Side name={`First: ${names[0]}`} side={answer.before} />
            <Side name={`Second: ${names[1]}`} side={answer.after} />
          </div>
          {answer.summary.length > 0 && (
            <ul class="compare-summary">
              {answer.summary.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          )}
          {answer.rows.length === 0 ? (
            <Empty title="No difference" />
          ) : (
            <DataTable
              caption="Differences"
              columns={COLUMNS}
              rows={answer.rows}
              rowKey={({ key }, index) => `${key}/${index}`}
            />
          )}
          {answer.totalCount > BigInt(answer.rows.length) && (
            <p class="hint">
              The {groupDigits(answer.rows.length)} largest of {groupDigits(answer.totalCount)}{' '}
              differences.
            </p>
          )}
          <QualityNotes quality={answer.quality} />
        </>
      )}
    </Card>
  );
}

/** Within a run the story goes from the other moment to the one shown; else from here to there. */
function comparison(target: Target): Ask | undefined {
  const { otherRun, otherHost, otherAllocator, groupBy, filter } = selection.value;
  const shown = shownMomentQuery(target);
  const other = momentQuery(otherMoment());
  if (!shown) return undefined;
  const here = { host: target.host.host, allocator: target.allocator.allocator };
  const there = {
    host: otherHost || (isElsewhere(target) ? '' : here.host),
    allocator: otherAllocator || (isElsewhere(target) ? '' : here.allocator),
  };
  const [first, second] = isElsewhere(target) ? [here, there] : [there, here];
  return {
    run: target.run,
    otherRun: otherRun === target.run ? '' : otherRun,
    fields: {
      filter: { ...filterOf(target, filter), ...first },
      ...(isElsewhere(target) ? { at: shown, other } : { at: other, other: shown }),
      otherHost: second.host,
      otherAllocator: second.allocator,
      groupBy: groupBy === GroupBy.GROUP_SCOPE ? GroupBy.GROUP_SITE : groupBy,
      limit: MOST_ROWS,
    },
  };
}

function isElsewhere(target: Target): boolean {
  const { otherRun } = selection.value;
  return otherRun !== '' && otherRun !== target.run;
}

/** The moment that is compared with: the start until another is chosen. */
function otherMoment(): ChosenMoment {
  const { otherAt } = selection.value;
  return otherAt.kind === 'default' ? { kind: 'event', event: -1n } : otherAt;
}

function Choices({ target }: { readonly target: Target }) {
  const { otherRun, otherAt, groupBy } = selection.value;
  const list = runs.value.state === 'ready' ? runs.value.value : [];
  return (
    <>
      <Select
        label="With run"
        value={otherRun || target.run}
        options={list.map(({ run }) => ({
          value: run,
          label: run === target.run ? 'this run' : run,
        }))}
        onChange={(run) =>
          select({
            otherRun: run === target.run ? '' : run,
            otherHost: '',
            otherAllocator: '',
            otherAt: run === target.run ? NOTHING_CHOSEN.otherAt : { kind: 'peak' },
          })
        }
      />
      <OtherAllocator target={target} />
      <Select
        label="Moment"
        value={encodeMoment(otherAt)}
        options={[
          { value: '', label: 'its start' },
          { value: 'peak', label: 'its peak' },
          { value: 'end', label: 'its end' },
          ...(otherRun === ''
            ? oomsOf(target).map(({ index }, place) => ({
                value: `oom:${index}`,
                label: `OOM ${place + 1}`,
              }))
            : [{ value: 'oom:0', label: 'its first OOM' }]),
        ]}
        onChange={(text) => select({ otherAt: decodeMoment(text) })}
      />
      <Select
        label="By"
        value={String(groupBy === GroupBy.GROUP_SCOPE ? GroupBy.GROUP_SITE : groupBy)}
        options={[
          { value: String(GroupBy.GROUP_SITE), label: 'Site' },
          ...GROUPINGS.filter(({ value }) => value !== GroupBy.GROUP_SCOPE).map(
            ({ value, label }) => ({ value: String(value), label }),
          ),
        ]}
        onChange={(value) => select({ groupBy: Number(value) as GroupBy }, 'replace')}
      />
    </>
  );
}

/** Which of the other run's allocators, where it has several. */
function OtherAllocator({ target }: { readonly target: Target }) {
  const { otherRun, otherHost, otherAllocator } = selection.value;
  const { data } = useDataset(INFO, { run: otherRun || target.run, fields: {} });
  const all = (data?.hosts ?? []).flatMap(({ host, allocators }) =>
    allocators.map(({ allocator }) => ({ host, allocator })),
  );
  if (all.length < 2) return null;
  const { host, allocator } = isElsewhere(target)
    ? { host: all[0]?.host, allocator: all[0]?.allocator }
    : { host: target.host.host, allocator: target.allocator.allocator };
  const encode = (choice: unknown) => JSON.stringify(choice);
  return (
    <Select
      label="Allocator"
      value={encode([otherHost || host, otherAllocator || allocator])}
      options={all.map((each) => ({
        value: encode([each.host, each.allocator]),
        label: `${each.host} · ${each.allocator}`,
      }))}
      onChange={(value) => {
        const [otherHost, otherAllocator] = JSON.parse(value) as [string, string];
        select({ otherHost, otherAllocator });
      }}
    />
  );
}

function Side({ name, side }: { readonly name: string; readonly side: CompareSide | undefined }) {
  if (!side) return null;
  return (
    <div>
      <p class="hint">{name}</p>
      <p>{[side.run, side.host, side.allocator].filter((part) => part !== '').join(' · ')}</p>
      <p>
        <strong>
          <Bytes value={side.inUseBytes} />
        </strong>{' '}
        in {groupDigits(side.liveCount)} allocations
      </p>
    </div>
  );
}

const COLUMNS: readonly DataColumn<CompareRow>[] = [
  { title: 'Group', text: ({ key }) => key, order: ({ key }) => key },
  { title: 'Change', text: ({ change }) => change, order: ({ change }) => change },
  {
    title: 'Difference',
    numeric: true,
    text: ({ deltaBytes }) => String(deltaBytes),
    cell: ({ deltaBytes }) => (
      <span class={`number ${deltaBytes > 0n ? 'grew' : deltaBytes < 0n ? 'shrank' : ''}`}>
        {formatDelta(deltaBytes)}
      </span>
    ),
    order: ({ deltaBytes }) => deltaBytes,
  },
  bytesColumn('First', ({ beforeBytes }) => beforeBytes),
  bytesColumn('Second', ({ afterBytes }) => afterBytes),
  {
    title: 'Count, first',
    numeric: true,
    text: ({ beforeCount }) => String(beforeCount),
    order: ({ beforeCount }) => beforeCount,
  },
  {
    title: 'Count, second',
    numeric: true,
    text: ({ afterCount }) => String(afterCount),
    order: ({ afterCount }) => afterCount,
  },
];

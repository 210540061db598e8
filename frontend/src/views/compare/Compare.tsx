import { COMPARE } from '../../data/query';
import { useDataset } from '../../data/useDataset';
import { formatDelta, groupDigits } from '../../format/bytes';
import { type CompareRow, type CompareSide, GroupBy } from '../../generated/datasets_pb';
import { decodeMoment, encodeMoment } from '../../store/link';
import { momentName, momentQuery, oomsOf, shownMoment, shownMomentQuery } from '../../store/moment';
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
  const { otherRun, otherAt, groupBy, filter } = selection.value;
  const at = shownMomentQuery(target);
  const other = otherAt.kind === 'default' ? ({ kind: 'event', event: -1n } as const) : otherAt;
  const asked = useDataset(
    COMPARE,
    at && {
      run: target.run,
      otherRun: otherRun === target.run ? '' : otherRun,
      fields: {
        filter: filterOf(target, filter),
        at,
        other: momentQuery(other),
        groupBy: groupBy === GroupBy.GROUP_SCOPE ? GroupBy.GROUP_SITE : groupBy,
        limit: MOST_ROWS,
      },
    },
  );
  const answer = asked.data;
  return (
    <Card
      title="Compare"
      note={`${momentName(shownMoment(target), target)} with another moment`}
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
            <Side name="Before" side={answer.before} />
            <Side name="After" side={answer.after} />
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

function Choices({ target }: { readonly target: Target }) {
  const { otherRun, otherAt, groupBy } = selection.value;
  const list = runs.value.state === 'ready' ? runs.value.value : [];
  return (
    <>
      <Select
        label="Run"
        value={otherRun || target.run}
        options={list.map(({ run }) => ({
          value: run,
          label: run === target.run ? 'this run' : run,
        }))}
        onChange={(run) => select({ otherRun: run === target.run ? '' : run })}
      />
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
  bytesColumn('Before', ({ beforeBytes }) => beforeBytes),
  bytesColumn('After', ({ afterBytes }) => afterBytes),
  {
    title: 'Count before',
    numeric: true,
    text: ({ beforeCount }) => String(beforeCount),
    order: ({ beforeCount }) => beforeCount,
  },
  {
    title: 'Count after',
    numeric: true,
    text: ({ afterCount }) => String(afterCount),
    order: ({ afterCount }) => afterCount,
  },
];

import { COMPARE } from '../../data/query';
import { groupDigits } from '../../format/bytes';
import type { CompareRow, CompareSide } from '../../generated/datasets_pb';
import { momentName, sameMoment, shownMoment } from '../../store/moment';
import { selection } from '../../store/session';
import type { Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { Bytes } from '../../ui/Bytes';
import { bytesColumn, countColumn, deltaColumn, textColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Empty } from '../../ui/Notices';
import { Choices } from './Choices';
import { comparison, isElsewhere, isSameAllocator, otherMoment } from './sides';

/** What grew, what went and what is new between the moment shown and another, here or elsewhere. */
export function Compare({ target }: { readonly target: Target }) {
  const asked = useDataset(COMPARE, comparison(target));
  const shown = momentName(shownMoment(target), target);
  const other = momentName(otherMoment(), target);
  const { otherRun } = selection.value;
  const names = isElsewhere(target) ? [shown, other] : [other, shown];
  return (
    <AnswerCard
      title="Compare"
      actions={<Choices target={target} />}
      name="compare"
      asked={asked}
      table={() => tableText(COLUMNS, asked.data?.rows ?? [])}
      waiting="Comparing…"
    >
      {({ before, after, summary, rows, totalCount }) => (
        <>
          <div class="compare-sides">
            <Side name={`First: ${names[0]}`} run={target.run} side={before} />
            <Side name={`Second: ${names[1]}`} run={otherRun || target.run} side={after} />
          </div>
          {summary.length > 0 && (
            <ul class="compare-summary">
              {summary.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          )}
          {rows.length === 0 || isOneMoment(target) ? (
            <NoDifference target={target} />
          ) : (
            <DataTable
              caption="Differences"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ key }, index) => `${key}/${index}`}
            />
          )}
          {totalCount > BigInt(rows.length) && (
            <p class="hint">
              The {groupDigits(rows.length)} largest of {groupDigits(totalCount)} differences.
            </p>
          )}
        </>
      )}
    </AnswerCard>
  );
}

function isOneMoment(target: Target): boolean {
  return isSameAllocator(target) && sameMoment(shownMoment(target), otherMoment());
}

function NoDifference({ target }: { readonly target: Target }) {
  return (
    <Empty title="No difference">
      {isOneMoment(target) && (
        <p>
          Both are the same moment. Choose a second one above or in the timeline: what changed since
          the first appears here.
        </p>
      )}
    </Empty>
  );
}

interface SideProps {
  readonly name: string;
  /** As the list of runs has it: the converter knows only the name of its folder. */
  readonly run: string;
  readonly side: CompareSide | undefined;
}

function Side({ name, run, side }: SideProps) {
  if (!side) return null;
  return (
    <div>
      <p class="hint">{name}</p>
      <p>{[run, side.host, side.allocator].filter((part) => part !== '').join(' · ')}</p>
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
  textColumn('Group', ({ key }) => key),
  textColumn('Change', ({ change }) => change),
  deltaColumn('Difference', ({ deltaBytes }) => deltaBytes),
  bytesColumn('First', ({ beforeBytes }) => beforeBytes),
  bytesColumn('Second', ({ afterBytes }) => afterBytes),
  countColumn('Count, first', ({ beforeCount }) => beforeCount),
  countColumn('Count, second', ({ afterCount }) => afterCount),
];

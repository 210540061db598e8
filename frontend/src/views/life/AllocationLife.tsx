import { ALLOCATION_LIFE } from '../../data/query';
import { exactBytes, formatAddress } from '../../format/bytes';
import { compiledBlock } from '../../format/compiled';
import { opName, roleName, tensorName } from '../../format/names';
import { formatDuration, formatMoment } from '../../format/time';
import { type Allocation, type AllocationLife as Life, Mode } from '../../generated/datasets_pb';
import { select, selection } from '../../store/session';
import { filterOf, relativeNs, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import {
  addressColumn,
  bytesColumn,
  momentColumn,
  operationColumn,
  textColumn,
} from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Facts } from '../../ui/Facts';
import { SourceBlock } from '../../ui/SourceLine';

/** The whole life of one allocation, and what lay at its place before and after. */
export function AllocationLife({ target }: { readonly target: Target }) {
  const { allocation: id } = selection.value;
  const asked = useDataset(
    ALLOCATION_LIFE,
    id === undefined
      ? undefined
      : { run: target.run, fields: { filter: filterOf(target), allocationId: id } },
  );
  if (id === undefined) return null;
  const columns = neighbourColumns(target);
  const rows = neighbours(asked.data);
  return (
    <AnswerCard
      title="One allocation"
      class="life"
      actions={
        <button type="button" class="button" onClick={() => select({ allocation: undefined })}>
          Close
        </button>
      }
      name="allocation"
      asked={asked}
      table={() => tableText(columns, rows)}
      waiting="Looking it up…"
    >
      {({ allocation }) =>
        allocation && (
          <>
            <AllocationFacts allocation={allocation} target={target} />
            <h3>At the same address, before and after</h3>
            <DataTable
              caption="Allocations at the same address"
              columns={columns}
              rows={rows}
              rowKey={(row) => String(row.id)}
              selected={(row) => row.id === id}
            />
          </>
        )
      }
    </AnswerCard>
  );
}

function neighbours(life: Life | undefined): readonly Allocation[] {
  if (!life) return [];
  return [
    ...life.before.toReversed(),
    ...(life.allocation ? [life.allocation] : []),
    ...life.after,
  ];
}

function AllocationFacts({
  allocation,
  target,
}: {
  readonly allocation: Allocation;
  readonly target: Target;
}) {
  const { bornNs, diedNs } = allocation;
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['Operation', opName(allocation.opName)],
    ['Tensor', tensorName(allocation)],
    ['Compiled by XLA', compiledBlock(allocation)],
    ['Role', roleName(allocation.role)],
    ['Requested', exactBytes(allocation.requestedBytes)],
    ['Allocated', exactBytes(allocation.allocatedBytes)],
    ['Address', formatAddress(allocation.address)],
    [
      'Born',
      allocation.baseline
        ? 'before the recording'
        : `${formatMoment(relativeNs(target, bornNs), 1e3)} after the start${allocation.step >= 0n ? `, in step ${allocation.step}` : ''}`,
    ],
    [
      'Freed',
      diedNs === 0n
        ? 'never: still live when the recording ended'
        : `${formatMoment(relativeNs(target, diedNs), 1e3)} after the start`,
    ],
    [
      'Lifetime',
      `${allocation.baseline ? 'at least ' : ''}${formatDuration(allocation.lifetimeNs)}`,
    ],
    ['Executed', modeName(allocation.mode)],
    ['Thread', allocation.thread === 0n ? '' : String(allocation.thread)],
  ];
  return (
    <>
      <Facts facts={facts} />
      {allocation.source && <SourceBlock source={allocation.source} />}
      <p class="button-row">
        {!allocation.baseline && (
          <button
            type="button"
            class="button"
            onClick={() => select({ at: { kind: 'time', timeNs: bornNs } })}
          >
            Show the moment of its birth
          </button>
        )}
        {diedNs > 0n && (
          <button
            type="button"
            class="button"
            onClick={() => select({ at: { kind: 'time', timeNs: diedNs } })}
          >
            Show the moment it was freed
          </button>
        )}
      </p>
    </>
  );
}

function modeName(mode: Mode): string {
  return mode === Mode.EAGER ? 'eagerly' : mode === Mode.GRAPH ? 'in a graph' : '';
}

function neighbourColumns(target: Target): readonly DataColumn<Allocation>[] {
  return [
    momentColumn('Born', target, ({ bornNs, baseline }) => (baseline ? 0n : bornNs), 'before'),
    momentColumn('Freed', target, ({ diedNs }) => diedNs),
    bytesColumn('Size', ({ allocatedBytes }) => allocatedBytes),
    operationColumn(
      ({ opName: name }) => name,
      ({ id }) => id,
    ),
    textColumn('Tensor', tensorName),
    addressColumn(({ address }) => address),
  ];
}

import { ALLOCATION_LIFE } from '../../data/query';
import { exactBytes, formatAddress } from '../../format/bytes';
import { compiledBlock } from '../../format/compiled';
import { opName, roleName, tensorName } from '../../format/names';
import { formatDuration, formatMoment } from '../../format/time';
import { type Allocation, Mode } from '../../generated/datasets_pb';
import { select, selection } from '../../store/session';
import { filterOf, relativeNs, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AllocationLink } from '../../ui/AllocationLink';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
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
  const life = asked.data;
  const columns = neighbourColumns(target);
  const rows = life
    ? [...life.before.toReversed(), ...(life.allocation ? [life.allocation] : []), ...life.after]
    : [];
  return (
    <Card
      title="One allocation"
      class="life"
      busy={asked.loading}
      actions={
        <button type="button" class="button" onClick={() => select({ allocation: undefined })}>
          Close
        </button>
      }
      exports={{
        name: 'allocation',
        table: () => tableText(columns, rows),
        question: asked.question,
      }}
    >
      {asked.error && <Failed error={asked.error} />}
      {!life && asked.loading && <Waiting run={target.run} what="Looking it up…" />}
      {life?.allocation && (
        <>
          <Facts allocation={life.allocation} target={target} />
          <h3>At the same address, before and after</h3>
          <DataTable
            caption="Allocations at the same address"
            columns={columns}
            rows={rows}
            rowKey={(row) => String(row.id)}
            selected={(row) => row.id === id}
          />
          <QualityNotes quality={life.quality} />
        </>
      )}
    </Card>
  );
}

function Facts({
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
      <dl class="life-facts">
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
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
  const moment = (ns: bigint) => (ns === 0n ? '–' : formatMoment(relativeNs(target, ns), 1e3));
  return [
    {
      title: 'Born',
      numeric: true,
      text: ({ bornNs }) => String(bornNs),
      cell: ({ bornNs, baseline }) => (baseline ? 'before' : moment(bornNs)),
    },
    {
      title: 'Freed',
      numeric: true,
      text: ({ diedNs }) => String(diedNs),
      cell: ({ diedNs }) => moment(diedNs),
    },
    {
      title: 'Size',
      numeric: true,
      text: ({ allocatedBytes }) => String(allocatedBytes),
      cell: ({ allocatedBytes }) => <Bytes value={allocatedBytes} />,
    },
    {
      title: 'Operation',
      text: ({ opName: name }) => name,
      cell: ({ id, opName: name }) => <AllocationLink id={id} name={name} />,
    },
    { title: 'Tensor', text: tensorName },
    { title: 'Address', text: ({ address }) => formatAddress(address) },
  ];
}

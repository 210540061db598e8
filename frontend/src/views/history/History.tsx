import { useState } from 'preact/hooks';
import { COLOURINGS, type ColourBy } from '../../chart/colouring';
import { ADDRESS_HISTORY } from '../../data/query';
import type { AddressHistory, HistoryRectangle } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { AnswerCard } from '../../ui/AnswerCard';
import { BlockSwitch, keepsBlocksWhole } from '../../ui/BlockSwitch';
import { addressColumn, bytesColumn, momentColumn, operationColumn } from '../../ui/columns';
import { type DataColumn, tableText } from '../../ui/DataTable';
import { Empty } from '../../ui/Notices';
import { Select } from '../../ui/Select';
import { TableOf } from '../../ui/TableOf';
import { useWindowed } from '../../ui/useWindowed';
import { AddressMap } from '../address-map/AddressMap';
import { Play } from './Film';
import { Picture } from './Picture';

/** More than there are pixels: a row's edge then lies within a pixel of where it should. */
const ROWS = 1024;
const MOST_COLUMNS = 1024;

/** The map over time, to be scrubbed like a film. */
export function History({ target }: { readonly target: Target }) {
  const [colourBy, setColourBy] = useState<ColourBy>('scope');
  const { body, asked } = useWindowed(
    ADDRESS_HISTORY,
    target,
    { filter: { wholeBlocks: keepsBlocksWhole() }, rows: ROWS },
    MOST_COLUMNS,
  );
  const table = rectangleColumns(asked.data, target);
  return (
    <>
      <AnswerCard
        title="Addresses over time"
        note="Each rectangle is an allocation, from birth to death"
        actions={
          <>
            <Play target={target} />
            <BlockSwitch />
            <Select label="Color by" value={colourBy} options={COLOURINGS} onChange={setColourBy} />
          </>
        }
        name="address-history"
        asked={asked}
        body={body}
        table={() => tableText(table, asked.data?.rectangles ?? [])}
        waiting="Drawing the film…"
      >
        {(history) =>
          history.regions.length === 0 ? (
            <Empty title="This trace has no addresses" />
          ) : (
            <>
              <Picture target={target} history={history} colourBy={colourBy} />
              <TableOf
                caption="Addresses over time"
                columns={table}
                rows={history.rectangles}
                rowKey={({ allocationId }) => String(allocationId)}
              />
            </>
          )
        }
      </AnswerCard>
      <AddressMap target={target} />
    </>
  );
}

function rectangleColumns(
  history: AddressHistory | undefined,
  target: Target,
): readonly DataColumn<HistoryRectangle>[] {
  return [
    operationColumn(
      ({ site }) => history?.sites[site]?.opName ?? '',
      ({ allocationId }) => allocationId,
    ),
    bytesColumn('Size', ({ sizeBytes }) => sizeBytes),
    addressColumn(({ address }) => address),
    momentColumn('Born', target, ({ bornNs }) => bornNs),
    momentColumn('Freed', target, ({ diedNs }) => diedNs, 'never'),
  ];
}

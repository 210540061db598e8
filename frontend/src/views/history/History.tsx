import { useRef, useState } from 'preact/hooks';
import { useWidth } from '../../chart/Canvas';
import { COLOURINGS, type ColourBy } from '../../chart/colouring';
import { ADDRESS_HISTORY } from '../../data/query';
import { columnsFor } from '../../data/window';
import { filterOf, type Target } from '../../store/target';
import { recordingLength, visibleRange } from '../../store/timeWindow';
import { useDataset } from '../../store/useDataset';
import { BlockSwitch, keepsBlocksWhole } from '../../ui/BlockSwitch';
import { Card } from '../../ui/Card';
import { tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { Select } from '../../ui/Select';
import { TableOf } from '../../ui/TableOf';
import { AddressMap } from '../address-map/AddressMap';
import { Play } from './Film';
import { Picture } from './Picture';
import { rectangleColumns } from './table';

/** More than there are pixels: a row's edge then lies within a pixel of where it should. */
const ROWS = 1024;
const MOST_COLUMNS = 1024;

/** The map over time, to be scrubbed like a film. */
export function History({ target }: { readonly target: Target }) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const [colourBy, setColourBy] = useState<ColourBy>('scope');
  const columns = columnsFor(visibleRange(target), recordingLength(target), width);
  const asked = useDataset(
    ADDRESS_HISTORY,
    width > 0
      ? {
          run: target.run,
          fields: {
            filter: {
              ...filterOf(target),
              wholeBlocks: keepsBlocksWhole(),
              fromNs: target.originNs + BigInt(columns.from),
              toNs: target.originNs + BigInt(columns.to),
            },
            columns: Math.min(columns.columns, MOST_COLUMNS),
            rows: ROWS,
          },
        }
      : undefined,
  );
  const history = asked.data;
  const table = rectangleColumns(history, target);
  return (
    <>
      <Card
        title="Addresses over time"
        note="Each rectangle is an allocation, from birth to death"
        busy={asked.loading}
        actions={
          <>
            <Play target={target} />
            <BlockSwitch />
            <Select
              label="Colour by"
              value={colourBy}
              options={COLOURINGS}
              onChange={(value) => setColourBy(value as ColourBy)}
            />
          </>
        }
        exports={{
          name: 'address-history',
          table: () => tableText(table, history?.rectangles ?? []),
          question: asked.question,
        }}
      >
        <div ref={body}>
          {asked.error && <Failed error={asked.error} />}
          {!history && asked.loading && <Waiting run={target.run} what="Drawing the film…" />}
          {history && history.regions.length === 0 && <Empty title="This trace has no addresses" />}
          {history && history.regions.length > 0 && (
            <>
              <Picture target={target} history={history} colourBy={colourBy} />
              <TableOf
                caption="Addresses over time"
                columns={table}
                rows={history.rectangles}
                rowKey={({ allocationId }) => String(allocationId)}
              />
            </>
          )}
          {history && <QualityNotes quality={history.quality} />}
        </div>
      </Card>
      <AddressMap target={target} />
    </>
  );
}

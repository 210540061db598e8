import { useState } from 'preact/hooks';
import type { ColourBy } from '../../chart/colouring';
import { ADDRESS_HISTORY } from '../../data/query';
import type { Target } from '../../store/target';
import { BlockSwitch, keepsBlocksWhole } from '../../ui/BlockSwitch';
import { Card } from '../../ui/Card';
import { ColourSelect } from '../../ui/ColourSelect';
import { tableText } from '../../ui/DataTable';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { TableOf } from '../../ui/TableOf';
import { useWindowed } from '../../ui/useWindowed';
import { AddressMap } from '../address-map/AddressMap';
import { Play } from './Film';
import { Picture } from './Picture';
import { rectangleColumns } from './table';

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
            <ColourSelect value={colourBy} onChange={setColourBy} />
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

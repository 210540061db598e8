import { FRAGMENTATION } from '../../data/query';
import { exactBytes, formatBytes, formatShare, groupDigits } from '../../format/bytes';
import type { AddressMap, Bin } from '../../generated/datasets_pb';
import { shownMomentQuery, shownOom } from '../../store/moment';
import { filterOf, type Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { numberColumn } from '../../ui/columns';
import { type DataColumn, tableText } from '../../ui/DataTable';
import { Help } from '../../ui/Help';
import { TableOf } from '../../ui/TableOf';
import { binHolds, MEASURES, usedBins } from './model';

/** The holes and the chunks in use at the chosen moment, by the size classes of the allocator. */
export function Bins({ target }: { readonly target: Target }) {
  const at = shownMomentQuery(target);
  const asked = useDataset(
    FRAGMENTATION,
    at && { run: target.run, fields: { filter: filterOf(target), at, columns: 1 } },
  );
  const map = asked.data?.maps[0];
  const request = shownOom(target)?.request?.roundedBytes ?? 0n;
  return (
    <AnswerCard
      title="Holes by size"
      note="At the moment shown"
      name="bins"
      asked={asked}
      table={() => tableText(COLUMNS, map?.bins ?? [])}
    >
      {() =>
        map && (
          <>
            <Measures map={map} />
            <Histogram bins={map.bins} request={request} />
            <TableOf
              caption="Bins"
              columns={COLUMNS}
              rows={map.bins}
              rowKey={({ index }) => String(index)}
            />
          </>
        )
      }
    </AnswerCard>
  );
}

function Measures({ map }: { readonly map: AddressMap }) {
  const { measures } = map;
  if (!measures) return null;
  return (
    <dl class="measures">
      {MEASURES.map(({ name, help, value }) => (
        <div key={name}>
          <dt>
            {name}
            <Help term={name}>{help}</Help>
          </dt>
          <dd>{formatShare(value(measures))}</dd>
        </div>
      ))}
      <div>
        <dt>
          Internal
          <Help term="internal fragmentation">
            Bytes inside the chunks in use that nobody asked for: the allocator rounds up to 256
            bytes and does not split a chunk when little would be left over.
          </Help>
        </dt>
        <dd title={exactBytes(measures.internalBytes)}>{formatBytes(measures.internalBytes)}</dd>
      </div>
    </dl>
  );
}

function Histogram({ bins, request }: { readonly bins: readonly Bin[]; readonly request: bigint }) {
  const used = usedBins(bins, request);
  return (
    <figure class="bins" aria-label="Holes and chunks in use by size">
      <div class="bins-row bins-head">
        <span>
          chunks from
          <Help term="a bin">
            The allocator keeps its free chunks in bins: one for every power of two from 256 bytes.
            It looks for a request in the bin of its size, then in each larger one.
          </Help>
        </span>
        <span>free</span>
        <span>in use</span>
      </div>
      {used.bins.map((bin, index) => (
        <div
          key={bin.index}
          class={`bins-row ${request > 0n && binHolds(bin, used.bins[index + 1], request) ? 'requested' : ''}`}
        >
          <span class="bins-size">{formatBytes(bin.minBytes)}</span>
          <BinBar kind="free" bytes={bin.freeBytes} count={bin.freeCount} most={used.most} />
          <BinBar kind="used" bytes={bin.usedBytes} count={bin.usedCount} most={used.most} />
        </div>
      ))}
      {request > 0n && (
        <figcaption>
          The framed row is the bin of the request ({formatBytes(request)}): only holes in it, or in
          the rows below, could serve it.
        </figcaption>
      )}
    </figure>
  );
}

interface BinBarProps {
  readonly kind: 'free' | 'used';
  readonly bytes: bigint;
  readonly count: bigint;
  readonly most: number;
}

function BinBar({ kind, bytes, count, most }: BinBarProps) {
  return (
    <span class="bins-cell" title={exactBytes(bytes)}>
      {count > 0n && (
        <>
          <span
            class={`bins-bar ${kind}`}
            style={{ width: `max(1px, ${(60 * Number(bytes)) / most}%)` }}
          />
          <span>
            {groupDigits(count)} · {formatBytes(bytes)}
          </span>
        </>
      )}
    </span>
  );
}

const COLUMNS: readonly DataColumn<Bin>[] = [
  numberColumn('Chunks from (bytes)', ({ minBytes }) => minBytes),
  numberColumn('Holes', ({ freeCount }) => freeCount),
  numberColumn('Free (bytes)', ({ freeBytes }) => freeBytes),
  numberColumn('Chunks in use', ({ usedCount }) => usedCount),
  numberColumn('In use (bytes)', ({ usedBytes }) => usedBytes),
  numberColumn('Requested (bytes)', ({ requestedBytes }) => requestedBytes),
];

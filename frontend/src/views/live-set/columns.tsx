import { roleName, shapeName } from '../../format/names';
import { lineName } from '../../format/source';
import { formatDuration } from '../../format/time';
import { type Allocation, SortKey } from '../../generated/datasets_pb';
import { addressColumn, bytesColumn, operationColumn } from '../../ui/columns';
import type { DataColumn } from '../../ui/DataTable';

export interface Column extends DataColumn<Allocation> {
  readonly sort?: SortKey;
  /** Width in the grid of the table. */
  readonly width: string;
}

export const COLUMNS: readonly Column[] = [
  {
    ...bytesColumn('Size', ({ allocatedBytes }) => allocatedBytes),
    sort: SortKey.SORT_BYTES,
    width: '88px',
  },
  {
    ...operationColumn<Allocation>(
      ({ opName }) => opName,
      ({ id }) => id,
    ),
    sort: SortKey.SORT_OP,
    width: 'minmax(220px, 3fr)',
  },
  {
    title: 'Line',
    width: 'minmax(190px, 2fr)',
    text: ({ source }) => (source?.line ? lineName(source.line) : '–'),
    cell: ({ source }) => (
      <span title={source?.line ? `${source.line.file}: ${source.line.text}` : undefined}>
        {source?.line ? lineName(source.line) : '–'}
      </span>
    ),
  },
  {
    title: 'Shape',
    sort: SortKey.SORT_SHAPE,
    width: 'minmax(96px, 1fr)',
    text: ({ shape, hasShape }) => (hasShape ? shapeName(shape) : '–'),
  },
  {
    title: 'Type',
    sort: SortKey.SORT_DTYPE,
    width: '76px',
    text: ({ dtype }) => dtype || '–',
  },
  {
    title: 'Role',
    width: '104px',
    text: ({ role }) => roleName(role),
  },
  {
    title: 'Step',
    sort: SortKey.SORT_STEP,
    width: '64px',
    numeric: true,
    text: ({ step }) => (step < 0n ? '–' : String(step)),
  },
  {
    title: 'Lifetime',
    sort: SortKey.SORT_LIFETIME,
    width: '92px',
    numeric: true,
    text: ({ lifetimeNs }) => String(lifetimeNs),
    cell: ({ lifetimeNs, baseline }) => (
      <span title={baseline ? 'It was already live when the recording began.' : undefined}>
        {baseline ? '≥ ' : ''}
        {formatDuration(lifetimeNs)}
      </span>
    ),
  },
  {
    ...bytesColumn(
      'Unused',
      ({ allocatedBytes, requestedBytes }) => allocatedBytes - requestedBytes,
    ),
    sort: SortKey.SORT_WASTE,
    width: '84px',
  },
  {
    ...addressColumn(({ address }) => address),
    sort: SortKey.SORT_ADDRESS,
    width: '124px',
  },
];

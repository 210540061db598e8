import { formatAddress } from '../../format/bytes';
import { roleName, shapeName } from '../../format/names';
import { lineName } from '../../format/source';
import { formatDuration } from '../../format/time';
import { type Allocation, SortKey } from '../../generated/datasets_pb';
import { AllocationLink } from '../../ui/AllocationLink';
import { Bytes } from '../../ui/Bytes';
import type { DataColumn } from '../../ui/DataTable';

export interface Column extends DataColumn<Allocation> {
  readonly sort?: SortKey;
  /** Width in the grid of the table. */
  readonly width: string;
}

export const COLUMNS: readonly Column[] = [
  {
    title: 'Size',
    sort: SortKey.SORT_BYTES,
    width: '88px',
    numeric: true,
    text: ({ allocatedBytes }) => String(allocatedBytes),
    cell: ({ allocatedBytes }) => <Bytes value={allocatedBytes} />,
  },
  {
    title: 'Operation',
    sort: SortKey.SORT_OP,
    width: 'minmax(220px, 3fr)',
    text: ({ opName: name }) => name,
    cell: ({ id, opName: name }) => <AllocationLink id={id} name={name} />,
  },
  {
    title: 'Line',
    width: 'minmax(120px, 2fr)',
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
    title: 'Unused',
    sort: SortKey.SORT_WASTE,
    width: '84px',
    numeric: true,
    text: ({ allocatedBytes, requestedBytes }) => String(allocatedBytes - requestedBytes),
    cell: ({ allocatedBytes, requestedBytes }) => <Bytes value={allocatedBytes - requestedBytes} />,
  },
  {
    title: 'Address',
    sort: SortKey.SORT_ADDRESS,
    width: '124px',
    text: ({ address }) => (address === 0n ? '–' : formatAddress(address)),
  },
];

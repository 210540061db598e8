/** The table behind the map. */
import { formatAddress } from '../../format/bytes';
import { opName, roleName, tensorName } from '../../format/names';
import type { Chunk } from '../../generated/datasets_pb';
import { AllocationLink } from '../../ui/AllocationLink';
import { bytesColumn } from '../../ui/columns';
import type { DataColumn } from '../../ui/DataTable';

export const CHUNK_COLUMNS: readonly DataColumn<Chunk>[] = [
  {
    title: 'Address',
    text: ({ address }) => formatAddress(address),
    order: ({ address }) => address,
  },
  bytesColumn('Size', ({ sizeBytes }) => sizeBytes),
  { title: 'Region', numeric: true, text: ({ region }) => String(region + 1) },
  { title: 'State', text: ({ free }) => (free ? 'free' : 'in use') },
  {
    title: 'Operation',
    text: ({ free, allocation }) => (free ? '' : opName(allocation?.opName ?? '')),
    cell: ({ allocation }) =>
      allocation && <AllocationLink id={allocation.id} name={allocation.opName} />,
  },
  { title: 'Tensor', text: ({ allocation }) => (allocation ? tensorName(allocation) : '') },
  { title: 'Role', text: ({ allocation }) => (allocation ? roleName(allocation.role) : '') },
];

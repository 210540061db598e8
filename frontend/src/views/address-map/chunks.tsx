/** The table behind the map. */

import { create } from '@bufbuild/protobuf';
import { formatAddress } from '../../format/bytes';
import { opName, roleName, tensorName } from '../../format/names';
import { type Chunk, ChunkSchema } from '../../generated/datasets_pb';
import { AllocationLink } from '../../ui/AllocationLink';
import { bytesColumn } from '../../ui/columns';
import type { DataColumn } from '../../ui/DataTable';

/** What lies in a chunk: itself, or the buffers of a compiled block that is opened. */
export function opened(chunk: Chunk): readonly Chunk[] {
  if (chunk.parts.length === 0) return [chunk];
  return chunk.parts.map((allocation) =>
    create(ChunkSchema, {
      address: allocation.address,
      sizeBytes: allocation.allocatedBytes,
      region: chunk.region,
      bin: chunk.bin,
      allocation,
    }),
  );
}

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

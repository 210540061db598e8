/** The table behind the map. */

import { create } from '@bufbuild/protobuf';
import { opName, roleName, tensorName } from '../../format/names';
import { type Chunk, ChunkSchema } from '../../generated/datasets_pb';
import {
  addressColumn,
  bytesColumn,
  numberColumn,
  operationColumn,
  textColumn,
} from '../../ui/columns';
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
  addressColumn(({ address }) => address),
  bytesColumn('Size', ({ sizeBytes }) => sizeBytes),
  numberColumn('Region', ({ region }) => region + 1),
  textColumn('State', ({ free }) => (free ? 'free' : 'in use')),
  operationColumn(
    ({ free, allocation }) => (free ? '' : opName(allocation?.opName ?? '')),
    ({ allocation }) => allocation?.id,
  ),
  textColumn('Tensor', ({ allocation }) => (allocation ? tensorName(allocation) : '')),
  textColumn('Role', ({ allocation }) => (allocation ? roleName(allocation.role) : '')),
];

import { exactBytes, formatAddress, formatBytes } from '../../format/bytes';
import { compiledBlock } from '../../format/compiled';
import { opName, roleName, tensorName } from '../../format/names';
import { formatDuration } from '../../format/time';
import type { Allocation, Chunk } from '../../generated/datasets_pb';

/** The chunk under the pointer, in words. */
export function ChunkText({ chunk }: { readonly chunk: Chunk | undefined }) {
  if (!chunk)
    return (
      <p class="readout">Point at a chunk or use the arrow keys; click it to see its whole life.</p>
    );
  const parts = [
    `${formatBytes(chunk.sizeBytes)} (${exactBytes(chunk.sizeBytes)}) at ${formatAddress(chunk.address)}`,
    ...(chunk.allocation ? allocationParts(chunk.allocation) : ['free']),
  ];
  return (
    <p class="readout" aria-live="polite">
      {parts.join(' · ')}
    </p>
  );
}

function allocationParts(allocation: Allocation): string[] {
  return [
    opName(allocation.opName),
    tensorName(allocation),
    compiledBlock(allocation),
    roleName(allocation.role) === 'unknown' ? '' : roleName(allocation.role),
    allocation.baseline ? 'from before the recording' : '',
    allocation.step >= 0n ? `born in step ${allocation.step}` : '',
    allocation.diedNs === 0n
      ? 'still live at the end'
      : `lived ${formatDuration(allocation.lifetimeNs)}`,
  ].filter((part) => part !== '');
}

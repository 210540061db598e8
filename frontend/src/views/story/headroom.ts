/** How far below its limit an allocator stayed, or why that is not known. */
import { formatBytes, formatShare } from '../../format/bytes';
import { type AllocatorInfo, Source } from '../../generated/datasets_pb';

/** Kinds of allocators that may have a limit; empty: the kind was not recorded. */
const POOLS: ReadonlySet<string> = new Set(['', 'bfc', 'pluggable']);

/** "Of its limit of 256.0 MiB there were 64.0 MiB left (25.0 %)." */
export function headroomSentence(allocator: AllocatorInfo): string {
  const { limitBytes, peakInUseBytes } = allocator;
  if (limitBytes === 0n) return `Headroom unknown: ${whyUnknown(allocator)}`;
  const left = limitBytes - peakInUseBytes;
  if (left <= 0n) return `It reached its limit of ${formatBytes(limitBytes)}: nothing was left.`;
  const share = formatShare(Number(left) / Number(limitBytes));
  return `Of its limit of ${formatBytes(limitBytes)} there were ${formatBytes(left)} left (${share}).`;
}

function whyUnknown({ source, kind, device }: AllocatorInfo): string {
  if (source === Source.STOCK_TRACE) {
    return "TensorFlow's own trace does not say how much the allocator may hold. Record with the OOM Forensics collector to see it.";
  }
  if (!POOLS.has(kind)) {
    return `this allocator keeps no pool (${kind}) and has no limit of its own; it takes what ${device || 'the machine'} gives.`;
  }
  return 'the recording does not say how much the allocator may hold.';
}

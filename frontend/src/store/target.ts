/** Which host and allocator the views show, and the questions that follow from it. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AllocatorInfo, FilterSchema, HostInfo, Info } from '../generated/datasets_pb';
import type { FilterChoice, Selection } from './selection';

export interface Target {
  readonly run: string;
  readonly info: Info;
  readonly host: HostInfo;
  readonly allocator: AllocatorInfo;
  /** Where the shown time axis begins, in ns since the epoch. */
  readonly originNs: bigint;
  readonly endNs: bigint;
}

/** Undefined when the run has no allocator at all. */
export function resolveTarget(
  run: string,
  info: Info,
  chosen: Pick<Selection, 'host' | 'allocator'>,
): Target | undefined {
  const withAllocators = info.hosts.filter((host) => host.allocators.length > 0);
  const host = withAllocators.find(({ host }) => host === chosen.host) ?? withAllocators[0];
  const allocator =
    host?.allocators.find(({ allocator }) => allocator === chosen.allocator) ?? mostTelling(host);
  if (!host || !allocator) return undefined;
  const originNs = host.startNs > 0n ? min(host.startNs, allocator.firstNs) : allocator.firstNs;
  const endNs = max(host.stopNs, allocator.lastNs);
  return { run, info, host, allocator, originNs, endNs: endNs > originNs ? endNs : originNs + 1n };
}

/** An allocator that ran out of memory is what people came for. */
function mostTelling(host: HostInfo | undefined): AllocatorInfo | undefined {
  return host?.allocators.find(({ oomCount }) => oomCount > 0n) ?? host?.allocators[0];
}

/** The filter of a question about the target's allocator. */
export function filterOf(
  target: Target,
  filter?: FilterChoice,
): MessageInitShape<typeof FilterSchema> {
  return {
    host: target.host.host,
    allocator: target.allocator.allocator,
    ...(filter && {
      search: filter.search,
      minBytes: filter.minBytes,
      scope: filter.scope,
      dtype: filter.dtype,
      role: filter.role,
      sourceFile: filter.file,
      sourceLine: filter.line,
      sourceFunction: filter.codeFunction,
      wholeBlocks: filter.wholeBlocks,
    }),
  };
}

/** Nanoseconds after the origin: exact, for a recording shorter than a hundred days. */
export function relativeNs(target: Target, epochNs: bigint): number {
  return Number(epochNs - target.originNs);
}

function min(a: bigint, b: bigint): bigint {
  return b > 0n && b < a ? b : a;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

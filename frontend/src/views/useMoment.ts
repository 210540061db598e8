import { resolveDefault } from '../app/MomentBar';
import { OOM_WINDOW } from '../data/query';
import { useDataset } from '../data/useDataset';
import { selection } from '../store/session';
import { filterOf, type Target } from '../store/target';

/** When the selected moment is, in ns since the epoch; undefined where that is not known yet. */
export function useMomentNs(target: Target): bigint | undefined {
  const at = resolveDefault(selection.value.at, target);
  const ooms = useOoms(target);
  switch (at.kind) {
    case 'time':
      return at.timeNs;
    case 'peak':
      return target.allocator.peakNs;
    case 'end':
      return target.allocator.lastNs;
    case 'oom':
      return ooms.data?.ooms[at.index]?.timeNs;
    default:
      return undefined;
  }
}

/** All OOMs of the allocator: what the story tells, and what several views mark. */
export function useOoms(target: Target) {
  return useDataset(
    OOM_WINDOW,
    target.allocator.oomCount > 0n
      ? { run: target.run, fields: { filter: filterOf(target) } }
      : undefined,
  );
}

/** What XLA compiled, in words. */
import type { Allocation } from '../generated/datasets_pb';

/** Which compiled block an allocation is, or lies in; empty: XLA did not ask for it. */
export function compiledBlock({ compiled }: Allocation): string {
  if (!compiled) return '';
  const doubt = compiled.othersFit
    ? ' (others of the same size would fit into the order, too)'
    : '';
  const block = `the ${compiled.kind || 'XLA'} block of \`${compiled.function}\`${doubt}`;
  if (compiled.isUnused) return `unused in ${block}`;
  return compiled.isPart ? `in ${block}` : block;
}

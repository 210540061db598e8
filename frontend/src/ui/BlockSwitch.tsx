import { hasCompiledBlocks } from '../store/compiledBlocks';
import { select, selection } from '../store/session';

/** Whether the blocks that XLA allocated are shown whole. */
export function keepsBlocksWhole(): boolean {
  return selection.value.filter.wholeBlocks;
}

/** Opens compiled blocks into their buffers, or keeps them whole; only where there are any. */
export function BlockSwitch() {
  if (!hasCompiledBlocks.value) return null;
  const { filter } = selection.value;
  return (
    <label class="field check">
      <input
        type="checkbox"
        checked={!filter.wholeBlocks}
        onChange={(event) =>
          select({ filter: { ...filter, wholeBlocks: !event.currentTarget.checked } }, 'replace')
        }
      />
      Open compiled blocks
    </label>
  );
}

import { useId } from 'preact/hooks';
import { formatBytes, groupDigits } from '../../format/bytes';
import type { CompiledBlock, AddressMap as MapData } from '../../generated/datasets_pb';

/** The compiled module whose blocks are shown at a chosen point of its program. */
export interface ChosenPoint {
  readonly module: string;
  readonly programPoint: number;
}

interface ProgramPointProps {
  readonly map: MapData;
  readonly onPoint: (chosen: ChosenPoint) => void;
}

/** At which instruction the largest opened block is shown; nothing where none is. */
export function ProgramPoint({ map, onPoint }: ProgramPointProps) {
  const id = useId();
  const opened = largestBlock(map);
  if (!opened) return null;
  const { block, sizeBytes } = opened;
  const instruction = `${groupDigits(block.programPoint + 1)} of ${groupDigits(block.programPoints)}`;
  return (
    <div class="field program-point">
      <label class="field-label" for={id}>
        Inside the {formatBytes(sizeBytes)} of <code>{block.function}</code>, at instruction
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={block.programPoints - 1}
        value={block.programPoint}
        aria-valuetext={instruction}
        onChange={(event) =>
          onPoint({ module: block.module, programPoint: Number(event.currentTarget.value) })
        }
      />
      <span>
        {instruction} {block.programPointOp && <code>{block.programPointOp}</code>}
      </span>
    </div>
  );
}

function largestBlock(
  map: MapData,
): { readonly block: CompiledBlock; readonly sizeBytes: bigint } | undefined {
  let largest: { readonly block: CompiledBlock; readonly sizeBytes: bigint } | undefined;
  for (const { allocation, parts, sizeBytes } of map.chunks) {
    const block = allocation?.compiled;
    if (!block || parts.length < 2 || block.programPoints < 2) continue;
    if (!largest || sizeBytes > largest.sizeBytes) largest = { block, sizeBytes };
  }
  return largest;
}

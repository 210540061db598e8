import { useId } from 'preact/hooks';
import { formatBytes, groupDigits } from '../../format/bytes';
import type { CompiledBlock, AddressMap as MapData } from '../../generated/datasets_pb';

/** The compiled module whose blocks are shown at a chosen point of its program. */
export interface ChosenPoint {
  readonly module: string;
  readonly programPoint: number;
  /** Of the block that it was chosen for. */
  readonly address: bigint;
}

interface ProgramPointProps {
  readonly map: MapData;
  readonly chosen: ChosenPoint | undefined;
  readonly onPoint: (chosen: ChosenPoint) => void;
}

/** At which instruction the largest opened block is shown; nothing where none is. */
export function ProgramPoint({ map, chosen, onPoint }: ProgramPointProps) {
  const id = useId();
  const opened = largestBlock(map, chosen);
  if (!opened) return null;
  const { block, address, sizeBytes } = opened;
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
          onPoint({
            module: block.module,
            programPoint: Number(event.currentTarget.value),
            address,
          })
        }
      />
      <span>
        {instruction} {block.programPointOp && <code>{block.programPointOp}</code>}
      </span>
    </div>
  );
}

interface OpenedBlock {
  readonly block: CompiledBlock;
  readonly address: bigint;
  readonly sizeBytes: bigint;
}

export function largestBlock(
  map: MapData,
  chosen: ChosenPoint | undefined,
): OpenedBlock | undefined {
  let largest: OpenedBlock | undefined;
  for (const { allocation, address, parts, sizeBytes } of map.chunks) {
    const block = allocation?.compiled;
    if (!block || block.programPoints < 2) continue;
    // At many instructions all of a block is unused, or it is one buffer's.
    if (parts.length < 2 && address !== chosen?.address) continue;
    if (!largest || sizeBytes > largest.sizeBytes) largest = { block, address, sizeBytes };
  }
  return largest;
}

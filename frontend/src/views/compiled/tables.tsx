/** The tables of compiled modules and their buffers. */
import { roleName, tensorName } from '../../format/names';
import { formatDuration } from '../../format/time';
import type {
  BlockShare,
  CompiledBufferInfo,
  CompiledModuleInfo,
} from '../../generated/datasets_pb';
import { bytesColumn, countColumn, numberColumn, textColumn } from '../../ui/columns';
import type { DataColumn } from '../../ui/DataTable';

export function moduleColumns(
  choose: (name: string) => void,
): readonly DataColumn<CompiledModuleInfo>[] {
  return [
    {
      ...textColumn('Function', (module) => module.function),
      cell: (module) => (
        <button type="button" class="link" title={module.name} onClick={() => choose(module.name)}>
          {module.function}
        </button>
      ),
    },
    bytesColumn('Temporary', ({ tempBytes }) => tempBytes),
    bytesColumn('Outputs', ({ outputBytes }) => outputBytes),
    bytesColumn('Arguments', ({ parameterBytes }) => parameterBytes),
    bytesColumn('Constants', ({ constantBytes }) => constantBytes),
    countColumn('Runs', ({ runCount }) => runCount),
    countColumn('Refused', ({ refusedCount }) => refusedCount),
    {
      title: 'Compiled in',
      numeric: true,
      text: ({ compileNs }) => (compileNs === 0n ? '' : formatDuration(compileNs)),
      order: ({ compileNs }) => compileNs,
    },
    countColumn('Instructions', ({ instructionCount }) => instructionCount),
    countColumn('Compiled as often', ({ modulesOfFunction }) => BigInt(modulesOfFunction)),
    { title: 'Largest arguments', text: ({ parameterShapes }) => parameterShapes.join(', ') },
    { title: 'Module', text: ({ name, programId }) => `${name} (${programId})` },
  ];
}

export const BUFFER_COLUMNS: readonly DataColumn<CompiledBufferInfo>[] = [
  textColumn('Operation', ({ opName, instruction }) => opName || instruction),
  textColumn('Tensor', tensorName),
  bytesColumn('Size', ({ sizeBytes }) => sizeBytes),
  bytesColumn('Offset', ({ offsetBytes }) => offsetBytes),
  { title: 'Role', text: ({ role }) => roleName(role) },
  numberColumn('Live from', ({ firstPoint }) => firstPoint),
  numberColumn('to', ({ lastPoint }) => lastPoint),
  { title: 'For the backward pass', text: ({ heldForBackward }) => (heldForBackward ? 'yes' : '') },
  { title: 'Instruction', text: ({ instruction }) => instruction },
  { title: 'Last read by', text: ({ lastUser }) => lastUser },
];

export const SHARE_COLUMNS: readonly DataColumn<BlockShare>[] = [
  textColumn('Name scope', ({ key }) => key),
  bytesColumn('Bytes', ({ bytes }) => bytes),
  countColumn('Buffers', ({ count }) => count),
];

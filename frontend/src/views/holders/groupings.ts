import { GroupBy, type SourceFrame } from '../../generated/datasets_pb';
import type { FilterChoice } from '../../store/selection';

/** What the live set can be grouped by, as people call it. */
export const GROUPINGS: readonly { readonly value: GroupBy; readonly label: string }[] = [
  { value: GroupBy.GROUP_SCOPE, label: 'Layer or name scope' },
  { value: GroupBy.GROUP_LINE, label: 'Line of your program' },
  { value: GroupBy.GROUP_STACK, label: 'Calls (flame graph)' },
  { value: GroupBy.GROUP_FILE, label: 'File' },
  { value: GroupBy.GROUP_FUNCTION, label: 'Function' },
  { value: GroupBy.GROUP_ROLE, label: 'Role' },
  { value: GroupBy.GROUP_OP, label: 'Operation' },
  { value: GroupBy.GROUP_OP_TYPE, label: 'Operation type' },
  { value: GroupBy.GROUP_SHAPE, label: 'Shape' },
  { value: GroupBy.GROUP_DTYPE, label: 'Data type' },
  { value: GroupBy.GROUP_STEP, label: 'Step of birth' },
  { value: GroupBy.GROUP_AGE, label: 'Age' },
  { value: GroupBy.GROUP_MODE, label: 'Eager or graph' },
  { value: GroupBy.GROUP_REPLICA, label: 'Replica (tf.distribute)' },
];

/** Names in parentheses stand for what has no name. */
export function isNameless(path: string): boolean {
  return path.startsWith('(');
}

/** The filter that keeps one group; what no filter can say is left as it is. */
export function narrowTo(
  groupBy: GroupBy,
  path: string,
  filter: FilterChoice,
  line?: SourceFrame,
): FilterChoice {
  if (isNameless(path)) {
    // "(eager ops)/MatMul" has no scope, but it has a type.
    const type = groupBy === GroupBy.GROUP_SCOPE ? path.split('/')[1] : undefined;
    return type === undefined ? filter : { ...filter, search: type };
  }
  switch (groupBy) {
    case GroupBy.GROUP_SCOPE:
      return { ...filter, scope: filter.scope === '' ? path : `${filter.scope}/${path}` };
    case GroupBy.GROUP_LINE:
    case GroupBy.GROUP_STACK:
      return line
        ? { ...filter, file: line.file, line: line.line, codeFunction: line.function }
        : filter;
    case GroupBy.GROUP_FILE:
      return { ...filter, file: path };
    case GroupBy.GROUP_FUNCTION: {
      const space = path.lastIndexOf(' ');
      return { ...filter, file: path.slice(0, space), codeFunction: path.slice(space + 1) };
    }
    case GroupBy.GROUP_DTYPE:
      return { ...filter, dtype: path };
    case GroupBy.GROUP_OP:
    case GroupBy.GROUP_OP_TYPE:
    case GroupBy.GROUP_SHAPE:
      return { ...filter, search: path };
    case GroupBy.GROUP_REPLICA:
      return { ...filter, search: `${path}/` };
    default:
      return filter;
  }
}

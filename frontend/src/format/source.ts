/** Lines of the user's program as a person says them. */
import type { AllocationGroup, SourceFrame } from '../generated/datasets_pb';

/** The name of a file without its folders. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** "train.py:41"; "line 41" where the file was left out on request. */
export function placeName({ file, line }: Pick<SourceFrame, 'file' | 'line'>): string {
  return file === '' ? `line ${line}` : `${baseName(file)}:${line}`;
}

/** "train.py:41 in augment"; a module's own lines have no function. */
export function lineName(frame: Pick<SourceFrame, 'file' | 'line' | 'function'>): string {
  const { function: name } = frame;
  return name === '' || name === '<module>' ? placeName(frame) : `${placeName(frame)} in ${name}`;
}

/** What a group is called: its line, where it is one. */
export function groupName(group: AllocationGroup): string {
  return group.line ? lineName(group.line) : group.key || '(none)';
}

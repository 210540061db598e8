/** Files that the reader opens in the page itself. */
import { signal } from '@preact/signals';
import { type OpenedFile, runsOfFiles } from '../data/filesToRuns';
import { DatasetError } from '../data/source';
import type { WorkerSource } from '../data/workerSource';
import { loadRuns, select, startAgain } from './session';

/** What was opened last. */
export const openedFiles = signal<readonly OpenedFile[]>([]);
/** Whether several files are the hosts of one run, rather than runs to compare. */
export const hostsOfOneRun = signal(false);
/** Why the last files could not be opened. */
export const openError = signal<DatasetError | undefined>(undefined);

let opened: WorkerSource | undefined;

/** Says where opened files go; before, none can be opened. */
export function openFilesIn(source: WorkerSource): void {
  opened = source;
}

/** Opens files, and shows the first run that they make. */
export async function openFiles(
  chosen: readonly OpenedFile[] | Promise<readonly OpenedFile[]>,
): Promise<void> {
  if (!opened) return;
  try {
    const files = await chosen;
    const runs = runsOfFiles(files, hostsOfOneRun.value);
    const isOther = runs.some(({ run }) => opened?.has(run));
    opened.add(runs);
    openedFiles.value = files;
    openError.value = undefined;
    await loadRuns();
    select({ run: runs[0]?.run ?? '', host: '', allocator: '' });
    if (isOther) startAgain();
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    openError.value =
      error instanceof DatasetError
        ? error
        : new DatasetError(`This cannot be read (${because}): choose it with Open files….`, 0);
  }
}

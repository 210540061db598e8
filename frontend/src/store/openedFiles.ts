/** Files that the reader opens in the page itself. */
import { signal } from '@preact/signals';
import { type OpenedFile, runsOfFiles } from '../data/filesToRuns';
import { DatasetError } from '../data/source';
import type { WorkerSource } from '../data/workerSource';
import { loadRuns, select } from './session';

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
export async function openFiles(files: readonly OpenedFile[]): Promise<void> {
  if (!opened || files.length === 0) return;
  try {
    const runs = runsOfFiles(files, hostsOfOneRun.value);
    opened.add(runs);
    openedFiles.value = files;
    openError.value = undefined;
    await loadRuns();
    select({ run: runs[0]?.run ?? '', host: '', allocator: '' });
  } catch (error) {
    openError.value = error instanceof DatasetError ? error : new DatasetError(String(error), 0);
  }
}

/** What a reader drops on a page: files, and folders with all that is in them. */
import type { OpenedFile } from '../data/filesToRuns';

/** What Chromium has, and TypeScript does not know. */
interface WithHandle extends DataTransferItem {
  readonly getAsFileSystemHandle?: () => Promise<FileSystemHandle | null>;
}

export async function droppedFiles(transfer: DataTransfer): Promise<readonly OpenedFile[]> {
  // Only now: after the first await the list is empty.
  const dropped = [...transfer.items].map((item: WithHandle) => {
    const entry = item.webkitGetAsEntry();
    // A file by itself: on a page from file:// Chromium reads no entry.
    if (!entry?.isDirectory) return plainFiles([item.getAsFile()]);
    return item.getAsFileSystemHandle
      ? item.getAsFileSystemHandle().then((handle) => filesIn(handle, entry.name))
      : filesOf(entry);
  });
  return (await Promise.all(dropped)).flat();
}

/** Files without a folder, as of a file dialog. */
export function plainFiles(files: Iterable<File | null>): readonly OpenedFile[] {
  return [...files].flatMap((data) => (data ? { path: data.name, data } : []));
}

async function filesOf(entry: FileSystemEntry): Promise<readonly OpenedFile[]> {
  if (isFile(entry)) {
    const data = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.replace(/^\//, ''), data }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const files: OpenedFile[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return files;
    files.push(...(await Promise.all(some.map(filesOf))).flat());
  }
}

async function filesIn(handle: FileSystemHandle | null, path: string): Promise<OpenedFile[]> {
  if (!handle) return [];
  if (handle.kind === 'file') {
    return [{ path, data: await (handle as FileSystemFileHandle).getFile() }];
  }
  const files: OpenedFile[] = [];
  for await (const [name, child] of (handle as FileSystemDirectoryHandle).entries()) {
    files.push(...(await filesIn(child, `${path}/${name}`)));
  }
  return files;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

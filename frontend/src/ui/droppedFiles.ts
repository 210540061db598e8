/** What a reader drops on a page: files, and folders with all that is in them. */
import type { OpenedFile } from '../data/filesToRuns';

export async function droppedFiles(transfer: DataTransfer): Promise<readonly OpenedFile[]> {
  // Only now: after the first await the list is empty.
  const dropped = [...transfer.items].map((item) => {
    const entry = item.webkitGetAsEntry();
    return entry ? filesOf(entry) : asFile(item.getAsFile());
  });
  return (await Promise.all(dropped)).flat();
}

/** The files of a file dialog. */
export function chosenFiles(list: FileList | null): readonly OpenedFile[] {
  return [...(list ?? [])].map((data) => ({ path: data.name, data }));
}

/** What a script drops has no place in a file system. */
function asFile(data: File | null): readonly OpenedFile[] {
  return data ? [{ path: data.name, data }] : [];
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

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

/** Files that a reader drops or chooses, as runs. */
import type { LocalRun } from './conversation';
import { DatasetError } from './source';

/** A file with where it lay in what was dropped: "run/host.xplane.pb", or its name. */
export interface OpenedFile {
  readonly path: string;
  readonly data: Blob;
}

const TRACE = /\.pb(\.gz)?$/;
/** In a folder other tools have put their own .pb beside it. */
const TRACE_IN_FOLDER = /\.xplane\.pb(\.gz)?$/;

/**
 * The traces of a folder are the hosts of one run, as in a logdir; a file by itself is a run, unless
 * `hostsOfOneRun` says that they belong together.
 */
export function runsOfFiles(files: readonly OpenedFile[], hostsOfOneRun: boolean): LocalRun[] {
  const traces = files.filter(({ path }) =>
    (path.includes('/') ? TRACE_IN_FOLDER : TRACE).test(path),
  );
  if (traces.length === 0) {
    throw new DatasetError(
      'This is no trace: choose a <host>.xplane.pb (or .xplane.pb.gz), or the folder of a run.',
      400,
    );
  }
  const runs = new Map<string, OpenedFile[]>();
  for (const file of traces) {
    const name = runOf(file.path, hostsOfOneRun);
    const own = (run: string) => runs.get(run) ?? [];
    const isIn = (run: string) => own(run).some(({ path }) => nameOf(path) === nameOf(file.path));
    let run = name;
    // Hosts of two runs may have one name.
    for (let number = 2; isIn(run); number += 1) run = `${name} (${number})`;
    runs.set(run, [...own(run), file]);
  }
  return [...runs].map(([run, own]) => ({
    run,
    // The notes say what is missing, and there is nobody to ask first.
    allowTruncated: true,
    files: own.map(({ path, data }) => ({ name: nameOf(path), data })),
  }));
}

function runOf(path: string, hostsOfOneRun: boolean): string {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  if (folder !== '') return folder;
  return hostsOfOneRun ? 'opened files' : nameOf(path);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.gz$/, '');
}

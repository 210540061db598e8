/** What a page holds that needs no server: docs/offline-page.md. */
import type { ConverterParts, LocalRun } from './conversation';

const PAGE_ID = 'oom-forensics-page';
const WORKER_ID = 'oom-forensics-worker';
const CONVERTER_ID = 'oom-forensics-converter';

/** The JSON of the element PAGE_ID. */
interface PageData {
  readonly version: number;
  readonly allowTruncated: boolean;
  readonly runs: readonly {
    readonly run: string;
    readonly files: readonly {
      /** "host.xplane.pb" */
      readonly name: string;
      /** The id of the element with its bytes. */
      readonly element: string;
    }[];
  }[];
}

const VERSION = 3;

/** Whether this is such a page, and not TensorBoard's. */
export function isPageOfItsOwn(): boolean {
  return document.getElementById(PAGE_ID) !== null;
}

/** The runs in the page; none: it is one to open files with. */
export function runsOfPage(): readonly LocalRun[] {
  const { version, allowTruncated, runs } = JSON.parse(textOf(PAGE_ID)) as PageData;
  if (version !== VERSION) {
    throw new Error(`This page holds data of version ${version}, not ${VERSION}.`);
  }
  return runs.map(({ run, files }) => ({
    run,
    allowTruncated,
    files: files.map(({ name, element }) => ({ name, data: packedIn(element) })),
  }));
}

/** The converter in the page. */
export function converterOfPage(): ConverterParts {
  const script = new Blob([textOf(WORKER_ID)], { type: 'text/javascript' });
  const url = URL.createObjectURL(script);
  const wasm = packedIn(CONVERTER_ID);
  return { startWorker: () => new Worker(url), wasm: async () => wasm };
}

/** The bytes of an element whose text is the base64 of a gzip file. */
function packedIn(element: string): Blob {
  const binary = atob(textOf(element));
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return new Blob([bytes]);
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

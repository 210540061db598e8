/** The entry points: TensorBoard imports this module and calls render(); a page of its own just runs it. */
import { h, render as renderInto } from 'preact';
import { App } from './app/App';
import { listenForReload } from './app/reload';
import { AllSources } from './data/allSources';
import { Client } from './data/client';
import type { ConverterParts } from './data/conversation';
import { HttpSource } from './data/httpSource';
import { converterOfPage, isPageOfItsOwn, runsOfPage } from './data/pageParts';
import { DatasetError, type Source } from './data/source';
import { WorkerSource } from './data/workerSource';
import { openFilesIn } from './store/openedFiles';
import { reload, startSession } from './store/session';
import { followTheme } from './store/theme';

/** Draws the tab into the document that TensorBoard has made for it. */
export async function render(): Promise<void> {
  document.title = 'OOM Forensics';
  await loadStyles(new URL('./index.css', import.meta.url));
  listenForReload();
  const server = new HttpSource(new URL('./', document.baseURI), () => void reload());
  const opened = new WorkerSource(INSTALLED);
  openFilesIn(opened);
  start(new AllSources(server, opened));
}

/** The converter beside this script, for files that the reader opens. */
const INSTALLED: ConverterParts = {
  startWorker: () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }),
  wasm: async () => {
    const response = await fetch(new URL('./converter.wasm', import.meta.url));
    if (response.ok) return response.blob();
    throw new DatasetError(
      'Files cannot be opened here: oom-forensics was installed without its WebAssembly converter; install it with OOM_FORENSICS_WASM=1.',
      response.status,
    );
  },
};

function start(source: Source): void {
  document.documentElement.lang = 'en';
  followTheme();
  startSession(new Client(source));
  const root = document.createElement('div');
  document.body.append(root);
  renderInto(h(App, null), root);
}

/** Waits for the style sheet, so that nothing is ever seen without it. */
function loadStyles(url: URL): Promise<void> {
  return new Promise((resolve) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = url.href;
    link.onload = () => resolve();
    link.onerror = () => resolve();
    document.head.append(link);
  });
}

// A page that needs no server: of `oom-forensics html` or `viewer`.
if (isPageOfItsOwn()) {
  const source = new WorkerSource(converterOfPage(), runsOfPage());
  openFilesIn(source);
  start(source);
}

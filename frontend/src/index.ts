/** The tab's entry point: TensorBoard imports this module and calls render(). */
import { h, render as renderInto } from 'preact';
import { App } from './app/App';
import { listenForReload } from './app/reload';
import { Client } from './data/client';
import { HttpSource } from './data/httpSource';
import { OFFLINE_DATA_ID, type OfflineData, OfflineSource } from './data/offlineSource';
import type { Source } from './data/source';
import { reload, startSession } from './store/session';
import { followTheme } from './store/theme';

/** Draws the tab into the document that TensorBoard has made for it. */
export async function render(): Promise<void> {
  await loadStyles(new URL('./index.css', import.meta.url));
  listenForReload();
  start(new HttpSource(new URL('./', document.baseURI), () => void reload()));
}

function start(source: Source): void {
  document.documentElement.lang = 'en';
  document.title = 'OOM Forensics';
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

const offlineData = document.getElementById(OFFLINE_DATA_ID)?.textContent;
if (offlineData) start(new OfflineSource(JSON.parse(offlineData) as OfflineData));

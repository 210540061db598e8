/** The tab's entry point: TensorBoard imports this module and calls render(). */
import { h, render as renderInto } from 'preact';
import { App } from './app/App';
import { listenForReload } from './app/reload';
import { Client } from './data/client';
import { HttpSource } from './data/httpSource';
import { startSession } from './store/session';
import { followTheme } from './store/theme';

/** Draws the tab into the document that TensorBoard has made for it. */
export async function render(): Promise<void> {
  document.documentElement.lang = 'en';
  document.title = 'OOM Forensics';
  await loadStyles(new URL('./index.css', import.meta.url));
  followTheme();
  listenForReload();
  startSession(new Client(new HttpSource(new URL('./', document.baseURI))));
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

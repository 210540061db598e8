import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { MODULE } from '../wasm/converters';
import { openPage, openTab, seesStory, seesView, useBrowser } from './tab';
import { COMMAND } from './tensorboard';

useBrowser();

const STOCK = resolve(import.meta.dirname, '../../converter/fuzz/corpus/trace/stock.xplane.pb');

describe.skipIf(!existsSync(MODULE))('the page to drop traces on', () => {
  let folder: string;
  let viewer: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'oom-forensics-viewer-'));
    const page = join(folder, 'viewer.html');
    execFileSync(COMMAND, ['viewer', '-o', page]);
    viewer = pathToFileURL(page).href;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The trace of a run of one host. */
  const traceOf = (run: string): string => {
    const profile = join(inject('logdir'), run, 'plugins/profile');
    return join(profile, readdirSync(profile)[0] ?? '', 'worker-0.xplane.pb');
  };
  const choose = (page: Page, ...files: string[]) => page.locator('input[type=file]').setInputFiles(files);
  const chart = (page: Page) => page.locator('.time-chart .u-over').first();

  it('shows a trace of TensorFlow alone that was packed by gzip', async () => {
    const packed = join(folder, 'stock.xplane.pb.gz');
    writeFileSync(packed, gzipSync(readFileSync(STOCK)));
    const { page, errors } = await openPage(viewer);
    await page.getByText('Nothing leaves this browser').waitFor();
    await choose(page, packed);
    await chart(page).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('compares two traces, and takes them as hosts where the reader says so', async () => {
    const { page, errors } = await openPage(viewer);
    const other = join(folder, 'other.xplane.pb');
    writeFileSync(other, readFileSync(traceOf('leak')));
    await choose(page, traceOf('fragmentation'), other);
    await seesStory({ tab: page });
    await page.getByRole('tab', { name: 'Compare' }).click();
    await page.getByLabel('With run').selectOption('other.xplane.pb');
    await page.getByRole('region', { name: 'Table: Differences' }).locator('tbody tr').first().waitFor();
    await page.getByLabel('they are the hosts of one run').check();
    await page.getByLabel('Host', { exact: true }).selectOption('other');
    await seesView({ tab: page });
    expect(errors).toEqual([]);
  });

  /** Drops what lies at `paths` as a mouse does, from the file manager. */
  const drop = async (page: Page, ...paths: string[]): Promise<void> => {
    const mouse = await page.context().newCDPSession(page);
    const data = { items: [], files: paths, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await mouse.send('Input.dispatchDragEvent', { type, x: 300, y: 200, data });
    }
  };

  it('takes a file that is dropped on it', async () => {
    const { page, errors } = await openPage(viewer);
    await page.getByText('Drop a trace here').waitFor();
    await drop(page, STOCK);
    await chart(page).waitFor();
    expect(errors).toEqual([]);
  });

  it('takes a folder that is dropped on it as a run with its hosts', async () => {
    const run = join(folder, 'dropped');
    mkdirSync(run);
    for (const host of ['a', 'b']) {
      writeFileSync(join(run, `${host}.xplane.pb`), readFileSync(STOCK));
    }
    const { page, errors } = await openPage(viewer);
    await page.getByText('Drop a trace here').waitFor();
    await drop(page, run);
    await page.getByLabel('Host', { exact: true }).selectOption('b');
    await chart(page).waitFor();
    expect(errors).toEqual([]);
  });

  it('says in a sentence that a folder without traces was dropped', async () => {
    const none = join(folder, 'none');
    mkdirSync(none);
    const { page } = await openPage(viewer);
    await page.getByText('Drop a trace here').waitFor();
    await drop(page, none);
    await page.getByRole('alert').getByText('This is no trace').waitFor();
  });

  it('shows the file that was opened last, of two with one name', async () => {
    const { page, errors } = await openPage(viewer);
    await choose(page, traceOf('fragmentation'));
    await seesStory({ tab: page });
    const other = join(folder, 'worker-0.xplane.pb');
    writeFileSync(other, readFileSync(STOCK));
    await choose(page, other);
    await page.getByText('No out-of-memory error').waitFor();
    await chart(page).waitFor();
    await page.reload();
    await page.getByText('worker-0.xplane.pb was open here').waitFor();
    expect(errors).toEqual([]);
  });

  it('says in a sentence what is no trace, and then opens one', async () => {
    const nonsense = join(folder, 'nonsense.xplane.pb');
    writeFileSync(nonsense, 'this is no trace');
    const { page } = await openPage(viewer);
    await choose(page, nonsense);
    await page.getByRole('alert').getByText(/^nonsense\.xplane\.pb is not a profiler trace/).waitFor();
    await choose(page, STOCK);
    await chart(page).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('is in the tab, too', async () => {
    const { tab, page, errors } = await openTab();
    await tab.locator('input[type=file]').first().setInputFiles(traceOf('leak'));
    await expect.poll(() => tab.getByLabel('Run', { exact: true }).inputValue()).toBe('worker-0.xplane.pb');
    await tab.locator('.time-chart .u-over').first().waitFor();
    expect(await tab.getByRole('alert').count()).toBe(0);
    expect(page.url()).toContain('worker-0.xplane.pb');
    expect(errors).toEqual([]);
  });
});

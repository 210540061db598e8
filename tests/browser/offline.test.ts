import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openPage, seesStory, seesView, useBrowser } from './tab';
import { COMMAND } from './tensorboard';

useBrowser();

describe('the page that oom-forensics html writes', () => {
  let folder: string;

  const write = (run: string): string => {
    const page = join(folder, `${run}.html`);
    execFileSync(COMMAND, ['html', join(inject('logdir'), run), '-o', page]);
    return pathToFileURL(page).href;
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'oom-forensics-page-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('shows the same views as the tab, from a file and without a server', async () => {
    const { page, errors } = await openPage(write('fragmentation'));
    await seesStory({ tab: page });
    for (const view of ['Map over time', 'Who holds it', 'Live allocations', 'Fragmentation', 'Steps']) {
      await page.getByRole('tab', { name: view }).click();
      await seesView({ tab: page });
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    const saved = page.waitForEvent('download');
    const card = page.locator('[role=tabpanel] .card').first();
    await card.getByText('Export', { exact: true }).click();
    await card.getByText('Save picture as PNG', { exact: true }).click();
    expect((await saved).suggestedFilename()).toBe('steps.png');
    expect(errors).toEqual([]);
  });

  it('leaves the address of a page alone in which it lies', async () => {
    write('fragmentation');
    writeFileSync(join(folder, 'blog.html'), '<iframe src="fragmentation.html" width="1200" height="800">');
    const server = createServer((request, answer) => {
      const file = join(folder, basename(request.url ?? ''));
      answer.setHeader('content-type', 'text/html');
      answer.end(existsSync(file) ? readFileSync(file) : '');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const { port } = server.address() as AddressInfo;
      const { page } = await openPage(`http://127.0.0.1:${port}/blog.html`);
      const frame = page.frameLocator('iframe');
      await seesStory({ tab: frame });
      await frame.getByRole('tab', { name: 'Steps' }).click();
      await seesView({ tab: frame });
      expect(page.url()).toBe(`http://127.0.0.1:${port}/blog.html`);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('can be gone through in time: the nearest of the moments that it holds is shown', async () => {
    const { page, errors } = await openPage(write('fragmentation'));
    await seesStory({ tab: page });
    await page.getByText(/the nearest of the \d\d moments in this page is shown/).waitFor();
    const shown = page.locator('.moment-bar strong');
    const chart = page.locator('.time-chart .u-over').first();
    const width = (await chart.boundingBox())?.width ?? 0;
    const seen = new Set<string>();
    for (const share of [0.15, 0.3, 0.45, 0.6, 0.75]) {
      const before = await shown.innerText();
      await chart.click({ position: { x: width * share, y: 60 } });
      await expect.poll(() => shown.innerText()).not.toBe(before);
      await page.getByRole('img', { name: /^Address map/ }).waitFor();
      seen.add(await shown.innerText());
    }
    expect(seen.size).toBe(5);
    await page.getByLabel('At the peak of step').fill('50');
    await page.keyboard.press('Enter');
    await expect.poll(() => shown.innerText()).toMatch(/^the peak of step (4|5)\d$/);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('finds among its allocations, and says what it cannot do', async () => {
    const { page, errors } = await openPage(write('fragmentation'));
    await seesStory({ tab: page });
    await page.getByRole('tab', { name: 'Live allocations' }).click();
    const note = page.getByRole('region', { name: 'Live allocations' }).locator('.card-note');
    const all = await note.innerText();
    await page.getByLabel('Search').fill('RandomUniform');
    await expect.poll(() => note.innerText()).not.toBe(all);
    expect(await page.locator('.table-body .table-row').first().innerText()).toContain('RandomUniform');
    await page.getByRole('tab', { name: 'Who holds it' }).click();
    await page.getByText('a saved page sums up all, whatever the filter').waitFor();
    await page.getByText('to compare, open the trace in TensorBoard').waitFor();
    await page.getByRole('tab', { name: 'Before the OOM' }).click();
    await page.getByText('in TensorBoard the map follows each of them').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('runs no name that was made to break it', async () => {
    const { page, errors } = await openPage(write('hostile'));
    await page.getByText('<img src=x onerror="parent.broken=1">').first().waitFor();
    expect(await page.evaluate(() => 'broken' in window)).toBe(false);
    expect(errors).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { firstOom } from './data';
import { FRAGMENTATION, openPage, seesStory, seesView, useBrowser } from './tab';
import { COMMAND } from './tensorboard';
import { MODULE } from '../wasm/converters';

useBrowser();

const VIEWS = [
  'Map over time',
  'Who holds it',
  'Live allocations',
  'Fragmentation',
  'Before the OOM',
  'What if',
  'Leaks',
  'Steps',
  'Compare',
  'Data quality',
];

describe.skipIf(!existsSync(MODULE))('the page that oom-forensics html writes', () => {
  let folder: string;

  const runOf = (run: string) => join(inject('logdir'), run);
  const write = (run: string, ...flags: string[]): string => {
    const page = join(folder, `${run}.html`);
    execFileSync(COMMAND, ['html', runOf(run), ...flags, '-o', page]);
    return pathToFileURL(page).href;
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'oom-forensics-page-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('shows the same views as the tab, from a file and without a server', async () => {
    const { page, errors } = await openPage(write('fragmentation'));
    await seesStory({ tab: page });
    expect(await page.title()).toMatch(/^OOM Forensics – ./);
    const { request, verdict } = await firstOom(FRAGMENTATION);
    await page.getByText(verdict.sentence).first().waitFor();
    await page.getByTitle(request.opName).or(page.getByText(request.opName)).first().waitFor();
    for (const view of VIEWS) {
      await page.getByRole('tab', { name: view }).click();
      await seesView({ tab: page });
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    await page.getByRole('tab', { name: 'Steps' }).click();
    await seesView({ tab: page });
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

  it('answers a moment and a filter as the command does', async () => {
    const asked = ['--at=step:37', '--search=RandomUniform', '--min-bytes=4KiB', '--rows=1'];
    const answer = JSON.parse(
      execFileSync(COMMAND, ['convert', runOf('fragmentation'), '--dataset=allocations', ...asked, '--format=json'], {
        encoding: 'utf8',
      }),
    );
    const { page, errors } = await openPage(write('fragmentation'));
    await seesStory({ tab: page });
    await page.getByLabel('At the peak of step').fill('37');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Live allocations' }).click();
    const note = page.getByRole('region', { name: 'Live allocations' }).locator('.card-note');
    const all = await note.innerText();
    await page.getByLabel('Search').fill('RandomUniform');
    await expect.poll(() => note.innerText()).not.toBe(all);
    await page.getByRole('searchbox', { name: 'At least' }).fill('4 KiB');
    await page.keyboard.press('Enter');
    const count = Number(answer.totalCount).toLocaleString('en-US');
    await expect.poll(() => note.innerText()).toMatch(new RegExp(`^${count} allocations hold`));
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('knows the life of an allocation, other limits and another moment', async () => {
    const { page, errors } = await openPage(write('fragmentation'));
    await seesStory({ tab: page });
    await page.getByRole('tab', { name: 'Live allocations' }).click();
    await page.locator('.table-body .table-row button').first().click();
    await page.getByRole('region', { name: 'One allocation' }).waitFor();
    await page.getByRole('tab', { name: 'What if' }).click();
    await page.getByRole('img', { name: 'What if: map of the pool' }).waitFor();
    await page.getByRole('button', { name: 'Compare from here' }).click();
    await page.getByRole('button', { name: 'At the peak' }).click();
    await page.locator('.compare-sides').getByText('Second: the moment of highest use').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('compares with a second run that is in the page', async () => {
    const { page, errors } = await openPage(write('leak', '--other-path', runOf('fragmentation')));
    await page.getByRole('tab', { name: 'Compare' }).click();
    await page.getByLabel('With run').selectOption({ index: 1 });
    await page.getByRole('region', { name: 'Table: Differences' }).locator('tbody tr').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('holds all hosts of a run', async () => {
    const { page, errors } = await openPage(write('two_hosts'));
    await page.getByLabel('Host', { exact: true }).selectOption('worker-1');
    await seesStory({ tab: page });
    expect(errors).toEqual([]);
  });

  it('runs no name that was made to break it', async () => {
    const { page, errors } = await openPage(write('hostile'));
    await page.getByText('<img src=x onerror="parent.broken=1">').first().waitFor();
    expect(await page.evaluate(() => 'broken' in window)).toBe(false);
    expect(errors).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openPage, seesStory, seesView, useBrowser } from './tab';
import { PYTHON } from './tensorboard';

useBrowser();

describe('the page that oom-forensics html writes', () => {
  let folder: string;

  const write = (run: string): string => {
    const page = join(folder, `${run}.html`);
    execFileSync(join(dirname(PYTHON), 'oom-forensics'), ['html', join(inject('logdir'), run), '-o', page]);
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
    expect(errors).toEqual([]);
  });

  it('runs no name that was made to break it', async () => {
    const { page, errors } = await openPage(write('hostile'));
    await page.getByText('<img src=x onerror="parent.broken=1">').first().waitFor();
    expect(await page.evaluate(() => 'broken' in window)).toBe(false);
    expect(errors).toEqual([]);
  });
});

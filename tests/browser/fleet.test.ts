import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsIn } from './axe';
import { openPage, useBrowser } from './tab';
import { COMMAND } from './tensorboard';

useBrowser();

const CORPUS = join(import.meta.dirname, '../../converter/fuzz/corpus/trace');

describe('the page that oom-forensics fleet-report writes', () => {
  let folder: string;
  let url: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'oom-forensics-fleet-'));
    for (const trace of ['collector', 'compiled']) {
      const run = join(folder, 'jobs', trace, 'plugins/profile/2026_11_20');
      mkdirSync(run, { recursive: true });
      copyFileSync(join(CORPUS, `${trace}.xplane.pb`), join(run, 'host.xplane.pb'));
    }
    const tables = join(folder, 'tables');
    const page = join(folder, 'page.html');
    execFileSync(COMMAND, ['fleet', join(folder, 'jobs'), '-o', tables, '--master', 'none']);
    execFileSync(COMMAND, ['fleet-report', tables, '-o', page]);
    url = pathToFileURL(page).href;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('answers every question without a server, and nothing in it is refused by axe', async () => {
    const { page, errors } = await openPage(url);
    const summary = page.getByRole('region', { name: 'Summary' });
    await expect.poll(() => summary.innerText()).toMatch(/2\s+jobs\s+1\s+out-of-memory incidents/);
    await page.getByRole('img', { name: 'Incidents by day, at most 1 a day' }).waitFor();
    const incident = page.getByRole('region', { name: 'Table: Incidents' }).getByRole('row').nth(1);
    expect(await incident.innerText()).toContain('Fill');
    expect(await incident.getByRole('button').getAttribute('aria-label')).toContain('collector/');
    expect(await violationsIn(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { MODULE } from '../wasm/converters';
import { firstOom } from './data';
import { FIREFOX, Firefox } from './firefox';
import { FRAGMENTATION } from './tab';
import { COMMAND } from './tensorboard';

describe.skipIf(!FIREFOX || !existsSync(MODULE))('in Firefox (where one is installed)', () => {
  let folder: string;
  let firefox: Firefox;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'oom-forensics-firefox-page-'));
    firefox = await Firefox.start(FIREFOX ?? '');
  });
  afterAll(async () => {
    await firefox?.quit();
    rmSync(folder, { recursive: true });
  });

  const textOf = (selector: string) =>
    firefox.evaluate(`return document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);

  it('a page tells its story from a file, and answers', async () => {
    const page = join(folder, 'page.html');
    execFileSync(COMMAND, ['html', join(inject('logdir'), 'fragmentation'), '-o', page]);
    await firefox.open(pathToFileURL(page).href);
    const { verdict } = await firstOom(FRAGMENTATION);
    await expect.poll(() => textOf('.story.out-of-memory')).toContain(verdict.sentence);
    await firefox.evaluate(
      `[...document.querySelectorAll('[role=tab]')].find((tab) => tab.innerText === 'Live allocations').click()`,
    );
    await expect.poll(() => textOf('[role=tabpanel] .card[aria-busy=false] .card-note')).toMatch(/^\d+ allocations hold/);
    expect(await textOf('[role=alert]')).toBe('');
  });
});

import { describe, expect, it } from 'vitest';
import { expectNoErrors, FRAGMENTATION, openTab, sees, useBrowser } from './tab';

useBrowser();

describe('the live allocations', () => {
  it('are sorted, searched and scrolled without all of them being in the page', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'live' } });
    await sees(opened, /^[\d,]+ allocations hold/);
    const rows = opened.tab.locator('.table-body .table-row');
    expect(await rows.first().innerText()).toContain('MiB');
    await opened.tab.getByRole('button', { name: /^Size/ }).click();
    await expect.poll(() => rows.first().innerText()).toMatch(/^256 B/);
    await opened.tab.getByLabel('Search').fill('RandomUniform');
    await expect.poll(() => rows.first().innerText()).toContain('RandomUniform');
    expect(opened.page.url()).toContain('search=RandomUniform');
    expect(await rows.count()).toBeLessThan(100);
    expectNoErrors(opened);
  });

  it('say so when nothing fits the filter, and how to go on', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'live', search: 'no such op' } });
    await sees(opened, 'Nothing fits the filter');
    await opened.tab.getByRole('button', { name: 'Clear the filter' }).click();
    await sees(opened, /^[\d,]+ allocations hold/);
  });

  it('open the whole life of one', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'live' } });
    await opened.tab.locator('.table-body .link').first().click();
    await sees(opened, 'At the same address, before and after');
    expect(opened.page.url()).toMatch(/p\.oom_forensics\.allocation=\d+/);
    await opened.tab.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => opened.page.url()).not.toContain('allocation=');
  });
});

describe('the address map', () => {
  it('names the chunk under the pointer and goes from chunk to chunk by keyboard', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'map' } });
    const map = opened.tab.getByRole('img', { name: /Address map/ });
    await map.waitFor();
    await map.focus();
    await opened.page.keyboard.press('ArrowRight');
    await sees(opened, / at 0x[0-9a-f]+ · /);
    expectNoErrors(opened);
  });
});

import { describe, expect, it } from 'vitest';
import { expectNoErrors, FRAGMENTATION, LEAK, openTab, sees, useBrowser } from './tab';

useBrowser();

describe("lines of the user's program", () => {
  it.each([false, true])('the card names the line to change (dark: %s)', async (dark) => {
    const opened = await openTab({ dark, link: { run: FRAGMENTATION } });
    await sees(opened, 'The line to change:');
    await sees(opened, 'fragmentation.py:');
    expectNoErrors(opened);
  });

  it('a leak names its line, and leads to all allocations of it', async () => {
    const opened = await openTab({ link: { run: LEAK, view: 'leaks' } });
    const line = opened.tab.locator('.leak .source-line button').first();
    await expect.poll(() => line.innerText(), { timeout: 90_000 }).toMatch(/^leak\.py:\d+$/);
    await line.click();
    await sees(opened, /^[\d,]+ allocations hold/);
    expect(opened.page.url()).toContain('p.oom_forensics.file=');
    expectNoErrors(opened);
  });

  it('what keeps the live set stands below it', async () => {
    const opened = await openTab({
      link: { run: FRAGMENTATION, view: 'holders', at: 'end' },
    });
    // The card above tells of keepers too.
    const holders = opened.tab.getByRole('region', { name: 'Who holds it' });
    const keepers = holders.getByRole('region', { name: 'What keeps it' });
    await expect.poll(() => keepers.innerText(), { timeout: 90_000 }).toContain("list 'kept_weights'");
    expectNoErrors(opened);
  });

  it('the live set is summed up by line', async () => {
    const opened = await openTab({
      link: { run: FRAGMENTATION, view: 'holders', at: 'peak', group: 'LINE' },
    });
    const groups = opened.tab.getByRole('region', { name: 'Groups' });
    await groups
      .getByRole('button', { name: /fragmentation\.py:\d+/ })
      .first()
      .click();
    await sees(opened, /^[\d,]+ allocations hold/);
    expectNoErrors(opened);
  });

  it('calls are a flame graph that the keyboard goes through', async () => {
    const opened = await openTab({
      link: { run: FRAGMENTATION, view: 'holders', at: 'peak', group: 'STACK' },
    });
    const flame = opened.tab.getByLabel(/^Calls by the bytes that they hold/);
    await flame.focus();
    await flame.press('ArrowRight');
    await expect
      .poll(() => opened.tab.locator('.readout').last().innerText())
      .toMatch(/ in [\d,]+ allocations/);
    await flame.press('Enter');
    await opened.tab.getByRole('button', { name: 'Show all calls' }).click();
    expectNoErrors(opened);
  });
});

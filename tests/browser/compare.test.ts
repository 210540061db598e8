import { describe, expect, it } from 'vitest';
import { expectNoErrors, FRAGMENTATION, LEAK, openTab, sees, useBrowser } from './tab';

useBrowser();

describe('steps side by side', () => {
  it('shows what each site held in the steps that the reader names', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'steps' } });
    await sees(opened, 'Steps side by side');
    await opened.tab.getByRole('textbox', { name: 'Steps' }).fill('2, 50');
    await opened.page.keyboard.press('Enter');
    const table = opened.tab.getByRole('region', { name: 'Table: Sites at the chosen steps' });
    await table.getByRole('columnheader', { name: 'Step 50' }).waitFor();
    expect(await table.getByRole('columnheader').allInnerTexts()).toHaveLength(4);
    expect(await table.locator('tbody tr').first().innerText()).toMatch(/[+−][\d.]+ MiB$/);
    expect(opened.page.url()).toContain('p.oom_forensics.steps=2-50');
    expectNoErrors(opened);
  });
});

describe('two runs', () => {
  it('are compared, with a choice of the other one', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'compare' } });
    await opened.tab.getByLabel('With run').selectOption(LEAK);
    await sees(opened, /^The second did not run out of memory/);
    expectNoErrors(opened);
  });

  it('of several hosts offer the choice of a host', async () => {
    const opened = await openTab({ link: { run: LEAK, view: 'compare' } });
    await opened.tab.getByLabel('With run').selectOption('two_hosts/2026_01_02_03_04_05');
    const hosts = opened.tab.locator('#detail-panel').getByLabel('Allocator');
    await hosts.waitFor();
    await hosts.selectOption({ index: 1 });
    await opened.tab.locator('.compare-sides').getByText(/worker-1 · /).waitFor();
    expect(opened.page.url()).toContain('p.oom_forensics.other_host=worker-1');
    expectNoErrors(opened);
  });
});

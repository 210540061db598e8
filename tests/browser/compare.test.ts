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

describe('two moments of one run', () => {
  it('are compared from the moment that the reader holds on to', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'map' } });
    const { tab, page } = opened;
    const box = await tab.locator('.time-chart .u-over').first().boundingBox();
    await tab
      .locator('.time-chart .u-over')
      .first()
      .click({ position: { x: (box?.width ?? 0) / 3, y: 80 } });
    await sees(opened, /s after the start$/);
    await tab.getByRole('button', { name: 'Compare from here' }).click();
    await sees(opened, /^Both are the same moment/);
    await tab.getByRole('button', { name: 'At the peak' }).click();
    const sides = tab.locator('.compare-sides');
    await sides.getByText(/^First: [\d.]+ s after the start$/).waitFor();
    await sides.getByText('Second: the moment of highest use').waitFor();
    expect(page.url()).toMatch(/p\.oom_forensics\.other_at=time%3A\d{19}/);
    const table = tab.getByRole('region', { name: 'Table: Differences' });
    // The last answer stays until the new one is there.
    await expect
      .poll(() => table.locator('tbody tr').first().innerText())
      .toMatch(/[+−][\d.]+ [KM]iB/);
    await tab.getByRole('button', { name: 'Swap' }).click();
    await sides.getByText('First: the moment of highest use').waitFor();
    expectNoErrors(opened);
  });

  it('may be the peaks of two steps, in a link too', async () => {
    const opened = await openTab({
      link: { run: FRAGMENTATION, view: 'compare', at: 'step:50', other_at: 'step:2' },
    });
    const { tab, page } = opened;
    const sides = tab.locator('.compare-sides');
    await sides.getByText('First: the peak of step 2').waitFor();
    await sides.getByText('Second: the peak of step 50').waitFor();
    await tab.getByLabel('Step', { exact: true }).fill('3');
    await page.keyboard.press('Enter');
    await sides.getByText('First: the peak of step 3').waitFor();
    await tab.getByLabel('At the peak of step').fill('40');
    await page.keyboard.press('Enter');
    await sides.getByText('Second: the peak of step 40').waitFor();
    expect(page.url()).toContain('p.oom_forensics.other_at=step%3A3');
    expect(page.url()).toContain('p.oom_forensics.at=step%3A40');
    expectNoErrors(opened);
  });
});

describe('two runs', () => {
  it('are compared at the peak of a step of each', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'compare', at: 'step:5' } });
    await opened.tab.getByLabel('With run').selectOption(LEAK);
    await opened.tab
      .locator('#detail-panel')
      .getByLabel('Moment', { exact: true })
      .selectOption('step');
    await opened.tab.getByLabel('Step', { exact: true }).fill('7');
    await opened.page.keyboard.press('Enter');
    const sides = opened.tab.locator('.compare-sides');
    await sides.getByText('First: the peak of step 5').waitFor();
    await sides.getByText('Second: the peak of step 7').waitFor();
    expect(await sides.innerText()).toContain(LEAK);
    expectNoErrors(opened);
  });

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

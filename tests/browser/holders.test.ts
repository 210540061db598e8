import { describe, expect, it } from 'vitest';
import { expectNoErrors, FRAGMENTATION, openTab, sees, useBrowser } from './tab';

useBrowser();

describe('who holds the memory', () => {
  it('tells eager operations apart by what they are: they have no layer', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'holders', at: 'peak' } });
    const groups = opened.tab.getByRole('region', { name: 'Groups' });
    await groups.getByRole('button', { name: 'Open (eager ops)' }).click();
    await groups.getByRole('button', { name: 'RandomUniform', exact: true }).click();
    await sees(opened, /^[\d,]+ allocations hold/);
    expect(opened.page.url()).toContain('p.oom_forensics.search=RandomUniform');
    const first = opened.tab.locator('.table-body .table-row').first();
    await expect.poll(() => first.innerText()).toContain('RandomUniform');
    expectNoErrors(opened);
  });
});

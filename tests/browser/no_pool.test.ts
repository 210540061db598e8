import { describe, expect, it } from 'vitest';
import { expectNoErrors, NO_POOL, openTab, sees, seesStory, seesView, useBrowser } from './tab';

useBrowser();

describe('a device without a pool', () => {
  it('has a story that tells of no holes', async () => {
    const opened = await openTab({ link: { run: NO_POOL } });
    await seesStory(opened);
    const story = await opened.tab.locator('.story').first().innerText();
    expect(story).toContain('ZerosLike asked ');
    expect(story).toContain('/device:HOSTED:0');
    expect(story).not.toMatch(/Largest hole|Free in the pool|separate holes/);
    expectNoErrors(opened);
  });

  it('has the views of what is live, and none of where it lies', async () => {
    const opened = await openTab({ link: { run: NO_POOL, view: 'holders' } });
    await seesView(opened);
    await sees(opened, 'ZerosLike');
    const views = opened.tab.getByRole('tablist', { name: 'Views' }).getByRole('tab');
    const titles = await views.allTextContents();
    expect(titles).toContain('Live allocations');
    expect(titles).not.toContain('Address map');
    expect(titles).not.toContain('Map over time');
    expect(titles).not.toContain('Fragmentation');
    await opened.tab.getByRole('tab', { name: 'Data quality' }).click();
    await sees(opened, /driver/);
    expectNoErrors(opened);
  });
});

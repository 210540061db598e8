import { describe, expect, it } from 'vitest';
import { violationsIn } from './axe';
import {
  DEVICE,
  expectNoErrors,
  FRAGMENTATION,
  LEAK,
  type Opened,
  openTab,
  sees,
  seesStory,
  seesView,
  useBrowser,
} from './tab';

useBrowser();

/** Opens every view, one after the other, and does something with each. */
async function inEveryView(opened: Opened, look: (view: string) => Promise<void>): Promise<void> {
  await seesStory(opened);
  const tabs = opened.tab.getByRole('tab');
  // Counted again each time: a view that has nothing to show goes once that is known.
  for (let index = 0; index < (await tabs.count()); index += 1) {
    const tab = tabs.nth(index);
    await tab.click();
    await seesView(opened);
    await look(await tab.innerText());
  }
  expectNoErrors(opened);
}

/** What axe finds in a part of the tab. */
const violationsInPart = ({ tab }: Opened, part: string, rules: readonly string[] = []) =>
  // The rows of a table are alike; the first dozen speak for them all.
  violationsIn(tab, { part, rules, exclude: ['tbody tr:nth-child(n+12)'] });

describe.each([
  ['light', false, []],
  // The same page in other colours.
  ['dark', true, ['color-contrast']],
])('in the %s theme', (_theme, dark, rules) => {
  it('axe finds nothing, in the story, the timeline and every view', async () => {
    const opened = await openTab({ dark });
    await seesStory(opened);
    expect(await violationsInPart(opened, 'main', rules)).toEqual([]);
    await inEveryView(opened, async (view) => {
      expect(await violationsInPart(opened, '#details', rules), view).toEqual([]);
    });
  });
});

describe.each([
  ['light', false],
  ['dark', true],
])('in the %s theme, axe finds nothing', (_theme, dark) => {
  it('in the story of a training that went well', async () => {
    const opened = await openTab({ dark, link: { run: LEAK } });
    await sees(opened, 'Who held the most at the peak');
    expect(await violationsInPart(opened, 'main')).toEqual([]);
    expectNoErrors(opened);
  });

  it('in a comparison of two steps, with an open menu', async () => {
    const opened = await openTab({
      dark,
      link: { run: FRAGMENTATION, view: 'compare', at: 'step:50', other_at: 'step:2' },
    });
    await sees(opened, 'First: the peak of step 2');
    await opened.tab.locator('#details').getByText('Export', { exact: true }).click();
    expect(await violationsInPart(opened, '#details')).toEqual([]);
    expectNoErrors(opened);
  });

  it('in the driver memory of a device, and in the band over the timeline', async () => {
    const opened = await openTab({ dark, link: { run: DEVICE, view: 'driver' } });
    await sees(opened, 'the rest of constructed device');
    await seesView(opened);
    expect(await violationsInPart(opened, 'main')).toEqual([]);
    expectNoErrors(opened);
  });
});

describe('at 1024 pixels', () => {
  it('every view fits without scrolling sideways', async () => {
    const opened = await openTab({ width: 1024 });
    await inEveryView(opened, async (view) => {
      const overflow = await opened.tab
        .locator('html')
        .evaluate((page) => page.scrollWidth - page.clientWidth);
      expect(overflow, view).toBeLessThanOrEqual(0);
    });
  });

  it('so does a comparison of two steps', async () => {
    const opened = await openTab({
      width: 1024,
      link: { run: FRAGMENTATION, view: 'compare', at: 'step:50', other_at: 'step:2' },
    });
    await sees(opened, 'First: the peak of step 2');
    const overflow = await opened.tab
      .locator('html')
      .evaluate((page) => page.scrollWidth - page.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });
});

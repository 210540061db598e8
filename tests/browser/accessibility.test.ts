import { AxeBuilder } from '@axe-core/playwright';
import { describe, expect, it } from 'vitest';
import { expectNoErrors, FRAGMENTATION, openTab, sees, useBrowser } from './tab';

useBrowser();

const VIEWS = [
  'map',
  'holders',
  'live',
  'fragmentation',
  'window',
  'leaks',
  'steps',
  'compare',
  'allocators',
  'quality',
];

describe.each([
  ['light', false],
  ['dark', true],
])('in the %s theme', (_theme, dark) => {
  it.each(VIEWS)('axe finds nothing in the view %s', async (view) => {
    const opened = await openTab({ dark, link: { run: FRAGMENTATION, view } });
    await sees(opened, 'Out of memory 1');
    await opened.tab.locator('[role=tabpanel] .card[aria-busy=false]').first().waitFor();
    const { violations } = await new AxeBuilder({ page: opened.page })
      .include(['iframe', 'main'])
      .analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
    expectNoErrors(opened);
  });
});

describe('at 1024 pixels', () => {
  it.each(VIEWS)('the view %s fits without scrolling sideways', async (view) => {
    const opened = await openTab({ width: 1024, link: { run: FRAGMENTATION, view } });
    await sees(opened, 'Out of memory 1');
    await opened.tab.locator('[role=tabpanel] .card[aria-busy=false]').first().waitFor();
    const overflow = await opened.tab
      .locator('html')
      .evaluate((page) => page.scrollWidth - page.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });
});

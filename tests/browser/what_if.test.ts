import { describe, expect, it } from 'vitest';
import { expectNoErrors, FRAGMENTATION, openTab, sees, useBrowser } from './tab';

useBrowser();

describe('what if', () => {
  it('serves the recorded requests in another limit, and names the smallest that is enough', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'what-if' } });
    const view = opened.tab.getByRole('region', { name: 'What if' });
    await view.getByText('does not fit', { exact: true }).first().waitFor();
    await view.getByRole('img', { name: /^Limits that were tried: enough from/ }).waitFor();
    await view.getByRole('img', { name: 'Recorded: map of the pool' }).waitFor();
    await view.getByRole('img', { name: 'What if: map of the pool' }).waitFor();
    await view.getByRole('button', { name: /^Smallest limit:/ }).click();
    await view.getByText('fits', { exact: true }).first().waitFor();
    await sees(opened, /every recorded request fits/);
    expectNoErrors(opened);
  });

  it('leaves a scope out, makes another of half the size, and says what it does not know', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'what-if' } });
    const view = opened.tab.getByRole('region', { name: 'What if' });
    await view.getByText('does not fit', { exact: true }).first().waitFor();
    // The tensors that lie between the holes.
    await view.getByLabel('Leave out').fill('RandomUniform');
    await view.getByText('fits', { exact: true }).first().waitFor();
    await sees(opened, /Only sizes of recorded requests were changed/);
    await view.getByLabel('Leave out').fill('');
    await view.getByText('does not fit', { exact: true }).first().waitFor();
    await view.getByLabel('Floating point numbers').selectOption('float16');
    await view.getByLabel('of', { exact: true }).fill('sequential_1');
    await sees(opened, /Only sizes of recorded requests were changed/);
    expectNoErrors(opened);
  });

  it('is worked by the keyboard', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'what-if' } });
    const view = opened.tab.getByRole('region', { name: 'What if' });
    const limit = view.getByRole('slider', { name: /^Limit/ });
    await limit.focus();
    const before = await limit.getAttribute('aria-valuetext');
    for (let i = 0; i < 12; i += 1) await opened.page.keyboard.press('ArrowLeft');
    await expect.poll(() => limit.getAttribute('aria-valuetext')).not.toBe(before);
    await view.getByText('does not fit', { exact: true }).first().waitFor();
    expectNoErrors(opened);
  });
});

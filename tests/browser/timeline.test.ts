import { describe, expect, it } from 'vitest';
import { expectNoErrors, isStill, type Opened, openTab, sees, useBrowser } from './tab';

useBrowser();

const chart = ({ tab }: Opened) => tab.locator('.time-chart .u-over').first();

async function dragAcross(opened: Opened, from: number, to: number): Promise<void> {
  // A long story leaves only its upper edge in the window.
  await chart(opened).scrollIntoViewIfNeeded();
  const box = await chart(opened).boundingBox();
  if (!box) throw new Error('the timeline is not on screen');
  await opened.page.mouse.move(box.x + box.width * from, box.y + 60);
  await opened.page.mouse.down();
  await opened.page.mouse.move(box.x + box.width * to, box.y + 60, { steps: 4 });
  await opened.page.mouse.up();
}

describe('the timeline', () => {
  it('zooms by drag until every single event is shown', async () => {
    const opened = await openTab();
    // Told while the pointer is elsewhere; over the chart it tells of what lies there.
    const summary = opened.tab.getByText(/events on screen and beside it/);
    const single = opened.tab.getByText(/each shown$/);
    await summary.waitFor();
    for (let zoom = 0; zoom < 8 && !(await single.isVisible()); zoom += 1) {
      await isStill(opened);
      const before = await summary.textContent();
      // Into the training: in the middle TensorFlow may be waiting for memory.
      await dragAcross(opened, 0.2, 0.4);
      await opened.page.mouse.move(0, 0);
      await expect.poll(() => summary.textContent()).not.toBe(before);
    }
    await single.waitFor();
    expect(opened.page.url()).toMatch(/p\.oom_forensics\.window=\d{19}-\d{19}/);
    await opened.tab.getByRole('button', { name: 'Whole recording' }).click();
    await expect.poll(() => opened.page.url()).not.toContain('window=');
    expectNoErrors(opened);
  });

  it('can be worked by keyboard alone', async () => {
    const opened = await openTab();
    await sees(opened, /events on screen/);
    await opened.tab.locator('.time-chart').first().focus();
    await opened.page.keyboard.press('+');
    await expect.poll(() => opened.page.url()).toContain('window=');
    await opened.page.keyboard.press('Home');
    await expect.poll(() => opened.page.url()).not.toContain('window=');
  });

  it('gives its axis to the job, not to the wait, and remembers another choice', async () => {
    const opened = await openTab();
    await sees(opened, /events on screen/);
    const axis = opened.tab.getByLabel('Axis');
    // TensorFlow waits 10 s for memory; the job itself is over in less.
    await expect.poll(() => axis.inputValue()).toBe('busy');
    await axis.selectOption('events');
    await opened.page.reload();
    await sees(opened, /events on screen/);
    await expect.poll(() => axis.inputValue()).toBe('events');
    await axis.selectOption('busy');
    expectNoErrors(opened);
  });

  it('goes to the failing step with one key', async () => {
    const opened = await openTab();
    await sees(opened, /events on screen/);
    await opened.tab.locator('.time-chart').first().focus();
    await opened.page.keyboard.press('f');
    await expect.poll(() => opened.page.url()).toContain('window=');
    expectNoErrors(opened);
  });

  it('chooses the moment of all other views with a click', async () => {
    const opened = await openTab();
    await sees(opened, /events on screen/);
    const box = await chart(opened).boundingBox();
    await chart(opened).click({ position: { x: (box?.width ?? 0) / 3, y: 80 } });
    await sees(opened, /s after the start$/);
    expect(opened.page.url()).toMatch(/p\.oom_forensics\.at=time%3A\d{19}/);
  });

  it('gives the same view to whoever opens the link, and to the back button', async () => {
    const first = await openTab();
    await sees(first, /events on screen/);
    await first.tab.getByRole('button', { name: 'At the peak' }).click();
    await sees(first, 'the moment of highest use');
    await first.page.goBack();
    await sees(first, /^just before (the OOM|OOM 1)$/);
    const second = await openTab({ link: { run: 'fragmentation/2026_01_02_03_04_05', at: 'peak' } });
    await sees(second, 'the moment of highest use');
  });
});

import { describe, expect, it } from 'vitest';
import { expectNoErrors, FRAGMENTATION, type Opened, openTab, sees, seesView, useBrowser } from './tab';

useBrowser();

const picture = ({ tab }: Opened) => tab.getByRole('img', { name: /Addresses over time/ });

async function openFilm(): Promise<Opened> {
  const opened = await openTab({ link: { run: FRAGMENTATION, view: 'history' } });
  await picture(opened).waitFor();
  await seesView(opened);
  await picture(opened).scrollIntoViewIfNeeded();
  return opened;
}

/** Moves the pointer over the picture until it lies on an allocation; returns where. */
async function findAllocation(opened: Opened): Promise<{ x: number; y: number }> {
  const box = await picture(opened).boundingBox();
  if (!box) throw new Error('the film is not on screen');
  const readout = opened.tab.locator('[role=tabpanel] .readout').first();
  for (let share = 0.04; share < 1; share += 0.04) {
    const place = { x: box.width * 0.25, y: box.height * share };
    await picture(opened).hover({ position: place });
    if (/ at 0x[0-9a-f]+ · born/.test(await readout.innerText())) return place;
  }
  throw new Error('no allocation in the film');
}

describe('the map over time', () => {
  it('names the allocation under the pointer; a click opens its whole life', async () => {
    const opened = await openFilm();
    await picture(opened).click({ position: await findAllocation(opened) });
    await sees(opened, 'At the same address, before and after');
    expect(opened.page.url()).toMatch(/p\.oom_forensics\.allocation=\d+/);
    expectNoErrors(opened);
  });

  it('is scrubbed by hand, the map below following', async () => {
    const opened = await openFilm();
    const box = await picture(opened).boundingBox();
    if (!box) throw new Error('the film is not on screen');
    await opened.page.mouse.move(box.x + box.width * 0.2, box.y + 100);
    await opened.page.mouse.down();
    await opened.page.mouse.move(box.x + box.width * 0.5, box.y + 100, { steps: 5 });
    await opened.page.mouse.up();
    await expect.poll(() => opened.page.url()).toMatch(/p\.oom_forensics\.at=time%3A\d{19}/);
    await sees(opened, /s after the start$/);
    expectNoErrors(opened);
  });

  it('is scrubbed by keyboard, and plays', async () => {
    const opened = await openFilm();
    await opened.tab.getByRole('slider', { name: 'Moment' }).focus();
    await opened.page.keyboard.press('ArrowLeft');
    await expect.poll(() => opened.page.url()).toContain('p.oom_forensics.at=time');
    await opened.page.keyboard.press('Home');
    const begin = opened.page.url();
    await opened.tab.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => opened.page.url()).not.toBe(begin);
    await opened.tab.getByRole('button', { name: 'Pause' }).click();
    expectNoErrors(opened);
  });

  it('is coloured by what the reader asks', async () => {
    const opened = await openFilm();
    await opened.tab.getByLabel('Color by').first().selectOption('age');
    await opened.tab.getByRole('list', { name: 'Colors' }).getByText(/ m?s$/).first().waitFor();
    expectNoErrors(opened);
  });
});

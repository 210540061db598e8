import { buffer } from 'node:stream/consumers';
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { firstOom } from './data';
import {
  expectNoErrors,
  FRAGMENTATION,
  type Opened,
  openTab,
  sees,
  seesStory,
  seesView,
  useBrowser,
} from './tab';

useBrowser();

/** Width and height of a PNG. */
const sizeOf = (png: Buffer) => ({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) });

const card = ({ tab }: Opened, name: string) => tab.getByRole('region', { name, exact: true });

/** Chooses an item of a card's export menu; returns the file that is saved. */
async function save(opened: Opened, from: Locator, item: string): Promise<Buffer> {
  const saved = opened.page.waitForEvent('download');
  await from.getByText('Export', { exact: true }).click();
  await from.getByText(item, { exact: true }).click();
  return buffer(await (await saved).createReadStream());
}

describe('what a view shows can be taken away', () => {
  it('all rows of the live allocations as CSV, not only those on screen', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'live' } });
    await sees(opened, /^[\d,]+ allocations hold/);
    const live = card(opened, 'Live allocations');
    const note = await live.locator('.card-note').innerText();
    const lines = (await save(opened, live, 'Save as CSV')).toString().trim().split('\r\n');
    expect(lines[0]).toMatch(/^Size,Operation,Line,Shape/);
    expect(`${(lines.length - 1).toLocaleString('en-US')} allocations`).toBe(
      /^[\d,]+ allocations/.exec(note)?.[0],
    );
  });

  it('the address map as a table', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'map' } });
    await seesView(opened);
    const map = card(opened, 'Address map');
    await map.getByRole('img').waitFor();
    const table = (await save(opened, map, 'Save as CSV')).toString();
    expect(table).toMatch(/^Address,Size,Region,State/);
    await map.getByText('Show as a table').click();
    await map.getByRole('columnheader', { name: 'State' }).waitFor();
  });

  it.each([false, true])('every view as a picture of its whole card (dark: %s)', async (dark) => {
    const opened = await openTab({ dark, link: { run: FRAGMENTATION } });
    await seesStory(opened);
    const tabs = opened.tab.getByRole('tab');
    // Views that a run has nothing for go once that is known.
    for (let view = 0; view < (await tabs.count()); view += 1) {
      const tab = tabs.nth(view);
      await tab.click();
      await seesView(opened);
      for (const each of await opened.tab.locator('[role=tabpanel] .card').all()) {
        const box = await each.boundingBox();
        const picture = await save(opened, each, 'Save picture as PNG');
        expect(picture.subarray(1, 4).toString()).toBe('PNG');
        expect(sizeOf(picture).width, await tab.innerText()).toBe(Math.floor(box?.width ?? 0));
        expect(await coloursIn(opened, picture)).toBeGreaterThan(20);
      }
    }
    expectNoErrors(opened);
  });

  it('the story as text for a ticket, with what to change', async () => {
    const opened = await openTab();
    await seesStory(opened);
    await opened.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const story = opened.tab.locator('.story').first();
    await story.getByText('Export', { exact: true }).click();
    await story.getByText('Copy as text', { exact: true }).click();
    await story.getByText('Copied', { exact: true }).waitFor();
    const text = await opened.page.evaluate(() => navigator.clipboard.readText());
    const { opening, verdict } = await firstOom(FRAGMENTATION);
    expect(text.split('\n').slice(0, 2)).toEqual([opening.whatHappened, verdict.sentence]);
    expect(text).toContain('What to change:\n1. ');
  });

  it('the last events before an OOM as the dataset itself', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'window' } });
    await seesView(opened);
    const events = card(opened, 'The last events before it');
    const json = JSON.parse((await save(opened, events, 'Save the dataset as JSON')).toString());
    expect(json.ooms[0].recent.length).toBeGreaterThan(1);
  });

  it('how a host was recorded as a table', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'quality' } });
    await seesView(opened);
    const facts = (await save(opened, card(opened, 'Host worker-0'), 'Save as CSV')).toString();
    expect(facts).toMatch(/^Fact,Value\r\n.*TensorFlow,\d/s);
  });
});

/** How many colours a picture has: one that is empty has a handful. */
async function coloursIn({ page }: Opened, picture: Buffer): Promise<number> {
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0);
    const { data } = context?.getImageData(0, 0, image.width, image.height) ?? { data: [] };
    return new Set(new Uint32Array(Uint8Array.from(data).buffer)).size;
  }, picture.toString('base64'));
}

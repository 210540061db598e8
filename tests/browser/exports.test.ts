import { buffer } from 'node:stream/consumers';
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { FRAGMENTATION, type Opened, openTab, sees, seesView, useBrowser } from './tab';

useBrowser();

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
    expect(lines[0]).toMatch(/^Size,Operation,Shape/);
    expect(`${(lines.length - 1).toLocaleString('en-US')} allocations`).toBe(
      /^[\d,]+ allocations/.exec(note)?.[0],
    );
  });

  it('the address map as a picture and as a table', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'map' } });
    await seesView(opened);
    const map = card(opened, 'Address map');
    await map.getByRole('img').waitFor();
    const picture = await save(opened, map, 'Save picture as PNG');
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    const table = (await save(opened, map, 'Save as CSV')).toString();
    expect(table).toMatch(/^Address,Size,Region,State/);
    await map.getByText('Show as a table').click();
    await map.getByRole('columnheader', { name: 'State' }).waitFor();
  });
});

/**
 * Makes the pictures of README and docs from the real tab.
 *
 *     screenshots LOGDIR OUTPUT_DIR
 *
 * LOGDIR is one that make_logdir.py has made.
 */
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { startTensorBoard } from './tensorboard';

interface Picture {
  readonly name: string;
  readonly link: Readonly<Record<string, string>>;
  readonly dark?: boolean;
  /** Only the details below the story, in a window that is high enough for all of it. */
  readonly details?: boolean;
  readonly height: number;
}

const RUN = 'fragmentation/2026_01_02_03_04_05';

const PICTURES: readonly Picture[] = [
  { name: 'story', link: { run: RUN }, height: 1000 },
  { name: 'story-dark', link: { run: RUN }, dark: true, height: 1000 },
  { name: 'address-map', link: { run: RUN, view: 'map' }, details: true, height: 2400 },
  { name: 'map-over-time', link: { run: RUN, view: 'history' }, details: true, height: 2400 },
  { name: 'holders', link: { run: RUN, view: 'holders', group: 'OP' }, details: true, height: 2400 },
  { name: 'live-allocations', link: { run: RUN, view: 'live' }, details: true, height: 2400 },
  { name: 'fragmentation', link: { run: RUN, view: 'fragmentation' }, details: true, height: 2400 },
  { name: 'steps', link: { run: RUN, view: 'steps' }, details: true, height: 2400 },
];

async function take(browser: Browser, url: string, picture: Picture, folder: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1400, height: picture.height } });
  const link = Object.entries(picture.link)
    .map(([name, value]) => `&p.oom_forensics.${name}=${encodeURIComponent(value)}`)
    .join('');
  await page.goto(`${url}/?darkMode=${picture.dark ?? false}#oom_forensics${link}`);
  const tab = page.frameLocator('iframe');
  await tab.getByText('Out of memory').first().waitFor({ timeout: 60_000 });
  await tab.locator('[role=tabpanel] .card[aria-busy=false]').first().waitFor();
  await page.waitForLoadState('networkidle');
  const details = tab.locator('#details');
  if (picture.details) await details.screenshot({ path: join(folder, `${picture.name}.png`) });
  else await page.screenshot({ path: join(folder, `${picture.name}.png`) });
  await page.close();
  console.log(`[screenshots] ${picture.name}.png`);
}

const [logdir, folder] = process.argv.slice(2);
if (!logdir || !folder) throw new Error('usage: screenshots LOGDIR OUTPUT_DIR');
const tensorBoard = await startTensorBoard(logdir);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  for (const picture of PICTURES) await take(browser, tensorBoard.url, picture, folder);
} finally {
  await browser.close();
  await tensorBoard.stop();
}

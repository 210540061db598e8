/**
 * Measures the tab in Chromium on the runs of a log directory.
 *
 *     bench LOGDIR
 *
 * For each run: time to the first picture, cold (the converter has not read the
 * trace) and warm; times between frames while zooming and while scrubbing; from
 * a click or the end of a drag until every view has followed; what was moved over
 * the network; the page's memory.
 *
 * Where OOM_FORENSICS_XPROF_PYTHON names a Python that has xprof: how long its
 * Memory Profile waits for its data on the same runs. It draws them with a
 * library from another machine, so its picture itself is not measured.
 */
import { type Browser, chromium, type Frame, type Page } from 'playwright-core';
import { startTensorBoard } from './tensorboard';

const GESTURES = 40;
/** A page that has not changed for so long after an answer changes no more. */
const QUIET_MS = 250;

interface Measured {
  readonly run: string;
  readonly events: string;
  readonly coldMs: number;
  readonly warmMs: number;
  readonly zoomFrames: Times;
  readonly scrubFrames: Times;
  readonly clicks: Times;
  readonly drags: Times;
  readonly movedKiB: number;
  readonly heapMiB: number;
}

/** In ms. */
interface Times {
  readonly median: number;
  readonly p95: number;
}

async function measure(browser: Browser, url: string, run: string): Promise<Measured> {
  const cold = await open(browser, url, run);
  const coldMs = cold.firstPictureMs;
  // Whoever opens it again does so after the story has been read.
  await settled(cold.page);
  await cold.page.close();
  const { page, frame, firstPictureMs: warmMs, moved } = await open(browser, url, run);
  await settled(page);
  const events = (await frame.locator('.readout').first().innerText()).split('·').at(-1) ?? '';
  const zoomFrames = await during(frame, () => zoom(page, frame));
  const scrubFrames = await during(frame, () => scrub(page, frame));
  await page.waitForLoadState('networkidle', { timeout: 120_000 });
  await watchChanges(frame);
  const clicks = await untilFollowed(frame, (gesture) => click(page, frame, gesture));
  const drags = await untilFollowed(frame, (gesture) => drag(page, frame, gesture));
  const client = await page.context().newCDPSession(page);
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  await page.close();
  return {
    run,
    events: events.replace(' events on screen and beside it', '').trim(),
    coldMs,
    warmMs,
    zoomFrames,
    scrubFrames,
    clicks,
    drags,
    movedKiB: moved.bytes / 1024,
    heapMiB: usedSize / 2 ** 20,
  };
}

async function open(browser: Browser, url: string, run: string) {
  const page = await browser.newPage({
    viewport: { width: 1440, height: 900 },
  });
  const moved = { bytes: 0 };
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  const ours = new Set<string>();
  client.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.url.includes('/plugin/oom_forensics/data')) ours.add(requestId);
  });
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (ours.has(requestId)) moved.bytes += encodedDataLength;
  });
  const link = `#oom_forensics&p.oom_forensics.run=${encodeURIComponent(run)}`;
  // The clock of a frame begins when TensorBoard opens it: at the click on the tab.
  await page.addInitScript(() => {
    const watch = new MutationObserver(() => {
      if (!document.querySelector('.time-chart canvas')) return;
      watch.disconnect();
      requestAnimationFrame(() => Object.assign(window, { firstPictureMs: performance.now() }));
    });
    watch.observe(document, { childList: true, subtree: true });
  });
  await page.goto(`${url}/${link}`);
  const tab = page.frameLocator('iframe');
  await tab.locator('.time-chart canvas').first().waitFor({ timeout: 120_000 });
  const frame = page.frames().find((each) => each !== page.mainFrame());
  if (!frame) throw new Error('the tab is not there');
  const firstPictureMs = await frame.evaluate(
    () => (window as unknown as { firstPictureMs: number }).firstPictureMs,
  );
  return { page, frame, firstPictureMs, moved };
}

/** Waits until every view on screen has its answer. */
async function settled(page: Page): Promise<void> {
  const tab = page.frameLocator('iframe');
  await tab.locator('.story').first().waitFor({ timeout: 120_000 });
  await tab.locator('[role=tabpanel] canvas').first().waitFor({ timeout: 120_000 });
  await page.waitForLoadState('networkidle', { timeout: 120_000 });
}

async function zoom(page: Page, frame: Frame): Promise<void> {
  await frame.locator('.time-chart').first().scrollIntoViewIfNeeded();
  const box = await frame.locator('.time-chart').first().boundingBox();
  if (!box) throw new Error('the timeline is not on screen');
  await page.mouse.move(box.x + box.width * 0.6, box.y + 80);
  await page.keyboard.down('Control');
  for (let gesture = 0; gesture < GESTURES; gesture += 1) await page.mouse.wheel(0, -60);
  for (let gesture = 0; gesture < GESTURES; gesture += 1) await page.mouse.wheel(0, 60);
  await page.keyboard.up('Control');
}

async function scrub(page: Page, frame: Frame): Promise<void> {
  for (let gesture = 0; gesture < GESTURES; gesture += 1) await click(page, frame, gesture);
}

/** A point of the timeline, in the page. */
async function pointOf(frame: Frame, share: number): Promise<{ x: number; y: number }> {
  await frame.locator('.time-chart').first().scrollIntoViewIfNeeded();
  const box = await frame.locator('.time-chart').first().boundingBox();
  if (!box) throw new Error('the timeline is not on screen');
  return { x: box.x + 90 + (box.width - 120) * share, y: box.y + 80 };
}

async function click(page: Page, frame: Frame, gesture: number): Promise<void> {
  const { x, y } = await pointOf(frame, gesture / GESTURES);
  await page.mouse.click(x, y);
}

/** Zooms into an eighth of what is shown, and out again. */
async function drag(page: Page, frame: Frame, gesture: number): Promise<void> {
  if (gesture % 2 === 1) {
    const { x, y } = await pointOf(frame, 0.5);
    await page.mouse.dblclick(x, y);
    return;
  }
  const from = await pointOf(frame, 0.1 + 0.7 * (gesture / GESTURES));
  const to = await pointOf(frame, 0.1 + 0.7 * (gesture / GESTURES) + 0.125);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

interface Watched {
  pending: number;
  began: number;
  changed: number;
}

/** Notes when a gesture ends, and when the page changed last: by an answer or in its elements. */
async function watchChanges(frame: Frame): Promise<void> {
  await frame.evaluate(() => {
    const watched: Watched = { pending: 0, began: 0, changed: 0 };
    const note = () =>
      requestAnimationFrame(() => {
        watched.changed = performance.now();
      });
    const ask = window.fetch;
    window.fetch = async (...asked) => {
      watched.pending += 1;
      try {
        return await ask(...asked);
      } finally {
        watched.pending -= 1;
        note();
      }
    };
    const everything = {
      childList: true,
      attributes: true,
      characterData: true,
      subtree: true,
    };
    new MutationObserver(note).observe(document, everything);
    document.addEventListener(
      'pointerup',
      () => {
        watched.began = performance.now();
      },
      { capture: true },
    );
    Object.assign(window, { watched });
  });
}

/** From the end of each gesture until nothing changes any more: every view shows what was asked for. */
async function untilFollowed(frame: Frame, gesture: (index: number) => Promise<void>): Promise<Times> {
  const times: number[] = [];
  for (let index = 0; index < GESTURES; index += 1) {
    await gesture(index);
    const handle = await frame.waitForFunction(
      (quietMs) => {
        const { watched } = window as unknown as { watched: Watched };
        const last = Math.max(watched.began, watched.changed);
        if (watched.pending > 0 || performance.now() - last < quietMs) return undefined;
        return { ms: last - watched.began };
      },
      QUIET_MS,
      { polling: 'raf', timeout: 120_000 },
    );
    times.push((await handle.jsonValue())?.ms ?? 0);
  }
  return timesOf(times);
}

function timesOf(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { median: at(0.5), p95: at(0.95) };
}

/** The times between frames while something is done. */
async function during(frame: Frame, action: () => Promise<void>): Promise<Times> {
  await frame.evaluate(() => {
    const times: number[] = [];
    let last = performance.now();
    const tick = (now: number) => {
      times.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    Object.assign(window, { frameTimes: times });
  });
  await action();
  return timesOf(await frame.evaluate(() => (window as unknown as { frameTimes: number[] }).frameTimes));
}

/** Milliseconds until xprof has answered what its Memory Profile asks; undefined: it reads no memory here. */
async function xprofAnswer(url: string, run: string): Promise<number | undefined> {
  const base = `${url}/data/plugin/profile`;
  const query = `run=${encodeURIComponent(run)}&tag=memory_profile`;
  const hosts = (await (await fetch(`${base}/hosts?${query}`)).json()) as {
    hostname: string;
  }[];
  const began = performance.now();
  const answer = await fetch(`${base}/data?${query}&host=${hosts[0]?.hostname}`);
  const body = await answer.text();
  return answer.ok && body.includes('memoryProfileSnapshots"') ? performance.now() - began : undefined;
}

async function xprofTable(logdir: string, python: string, ours: readonly Measured[]): Promise<void> {
  const tensorBoard = await startTensorBoard(logdir, python);
  try {
    console.log("\n| run | xprof's data cold | warm | our first picture cold | warm |");
    console.log('| --- | --- | --- | --- | --- |');
    for (const { run, coldMs, warmMs } of ours) {
      const cold = await xprofAnswer(tensorBoard.url, run);
      const warm = cold && (await xprofAnswer(tensorBoard.url, run));
      const beside = (theirs: number | undefined, own: number) =>
        theirs ? `${own.toFixed(0)} ms (${(theirs / own).toFixed(1)} × sooner)` : `${own.toFixed(0)} ms`;
      const time = (theirs: number | undefined) =>
        theirs ? `${theirs.toFixed(0)} ms` : 'reads no memory here';
      console.log(
        `| ${run} | ${time(cold)} | ${time(warm)} | ${beside(cold, coldMs)} | ${beside(warm, warmMs)} |`,
      );
    }
  } finally {
    await tensorBoard.stop();
  }
}

const [logdir] = process.argv.slice(2);
if (!logdir) throw new Error('usage: bench LOGDIR');
const measured: Measured[] = [];
const tensorBoard = await startTensorBoard(logdir);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const answer = await fetch(`${tensorBoard.url}/data/plugin/oom_forensics/runs`);
  const runs = (await answer.json()) as { run: string }[];
  console.log(
    '| run | events | first picture cold | warm | zoom frame p50 / p95 | scrub frame p50 / p95 | click p50 / p95 | drag p50 / p95 | moved | heap |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const { run } of runs) {
    const result = await measure(browser, tensorBoard.url, run);
    measured.push(result);
    const frames = ({ median, p95 }: Times) => `${median.toFixed(0)} / ${p95.toFixed(0)} ms`;
    console.log(
      `| ${run} | ${result.events} | ${result.coldMs.toFixed(0)} ms | ${result.warmMs.toFixed(0)} ms | ${frames(result.zoomFrames)} | ${frames(result.scrubFrames)} | ${frames(result.clicks)} | ${frames(result.drags)} | ${result.movedKiB.toFixed(0)} KiB | ${result.heapMiB.toFixed(0)} MiB |`,
    );
  }
} finally {
  await browser.close();
  await tensorBoard.stop();
}
const xprof = process.env.OOM_FORENSICS_XPROF_PYTHON;
if (xprof) await xprofTable(logdir, xprof, measured);

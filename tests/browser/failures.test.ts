import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { signalConverters } from './converters';
import { openTab, sees, seesStory, useBrowser } from './tab';
import { startTensorBoard, type TensorBoard } from './tensorboard';

useBrowser();

describe('what goes wrong is said', () => {
  it('of a trace without a byte', async () => {
    const opened = await openTab({ link: { run: 'empty/2026_01_02_03_04_05' } });
    await opened.tab.getByRole('alert').first().waitFor();
    expect(await opened.tab.getByRole('alert').first().innerText()).toMatch(/empty|no data|no bytes/i);
  });

  it('of a trace that was cut off, above what precedes the cut', async () => {
    const opened = await openTab({ link: { run: 'truncated/2026_01_02_03_04_05' } });
    await seesStory(opened);
    await sees(opened, /^The trace of worker-0 is cut off: .* Copy the file again, or record the run again\.$/);
    expect(await opened.tab.getByRole('alert').count()).toBe(0);
  });
});

describe('a converter', () => {
  let logdir: string;
  let tensorBoard: TensorBoard;
  // Its own ones: other tests ask those of the shared log directory meanwhile.
  beforeAll(async () => {
    logdir = mkdtempSync(join(tmpdir(), 'oom-forensics-failures-'));
    cpSync(join(inject('logdir'), 'fragmentation'), join(logdir, 'fragmentation'), { recursive: true });
    tensorBoard = await startTensorBoard(logdir);
  });
  afterAll(async () => {
    await tensorBoard?.stop();
    rmSync(logdir, { recursive: true });
  });

  it('that has died is started again', async () => {
    const opened = await openTab({ url: tensorBoard.url });
    await seesStory(opened);
    signalConverters(logdir, 'SIGKILL');
    await opened.tab.getByRole('tab', { name: 'Who holds it' }).click();
    const shown = opened.tab.getByRole('region', { name: 'Groups' });
    const again = opened.tab.getByRole('button', { name: 'Try again' }).first();
    await again.or(shown).first().waitFor();
    // One of several views may have met the dead one first: its button revives them all.
    if (await again.isVisible()) await again.click();
    await shown.waitFor();
    expect(await opened.tab.getByRole('alert').count()).toBe(0);
  });

  it('that works too long can be cancelled, and its work begun again', async () => {
    const opened = await openTab({ url: tensorBoard.url });
    await seesStory(opened);
    signalConverters(logdir, 'SIGSTOP');
    await opened.tab.getByRole('tab', { name: 'Who holds it' }).click();
    await opened.tab.getByRole('button', { name: 'Cancel' }).first().click();
    await sees(opened, 'The work was cancelled.');
    // Only what this page waited for was cancelled: the converter itself is everyone's.
    signalConverters(logdir, 'SIGCONT');
    await opened.tab.getByRole('button', { name: 'Try again' }).first().click();
    await opened.tab.getByRole('region', { name: 'Groups' }).waitFor();
  });
});

describe('an empty log directory', () => {
  it('says how to record a run, and shows the run when it appears', async () => {
    const logdir = mkdtempSync(join(tmpdir(), 'oom-forensics-empty-'));
    const tensorBoard = await startTensorBoard(logdir);
    try {
      const opened = await openTab({ url: tensorBoard.url, link: {} });
      await sees(opened, 'No recorded run in this log directory yet');
      cpSync(join(inject('logdir'), 'fragmentation'), join(logdir, 'fragmentation'), {
        recursive: true,
      });
      // TensorBoard's own button; the plugin looks at the disk every few seconds.
      const story = opened.tab.locator('.story.out-of-memory').first();
      const empty = opened.tab.getByText('No recorded run in this log directory yet');
      await expect
        .poll(
          async () => {
            if (await empty.isVisible()) {
              await opened.page.locator('app-header-reload button').click();
            }
            return story.isVisible();
          },
          { timeout: 120_000, interval: 1000 },
        )
        .toBe(true);
    } finally {
      await tensorBoard.stop();
      rmSync(logdir, { recursive: true });
    }
  });
});

describe('a link to a run that is gone', () => {
  it('falls back to one that is there', async () => {
    const opened = await openTab({ link: { run: 'deleted/2020_01_01_00_00_00' } });
    await opened.tab.getByLabel('Run', { exact: true }).waitFor();
    expect(await opened.tab.getByLabel('Run', { exact: true }).inputValue()).not.toBe('');
  });
});

/**
 * The tab where a team has it: behind a proxy with a prefix, two log directories of one name,
 * links, thousands of runs, without TensorFlow. One TensorBoard for all of it.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findNginx, startNginx } from './nginx';
import { startProxy, type Proxy } from './proxy';
import { openTab, seesStory, seesView, useBrowser } from './tab';
import { COMMAND, startTensorBoardWith, type TensorBoard } from './tensorboard';

useBrowser();

const PREFIX = '/team/tensorboard';
const MANY = 10_000;
const NGINX = findNginx();

describe('behind a proxy, with a prefix and two log directories of one name', () => {
  let folder: string;
  let tensorBoard: TensorBoard;
  let proxy: Proxy;
  let source: string;

  beforeAll(async () => {
    // In memory where there is such a place: a disk takes minutes to remove so many folders.
    const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    folder = mkdtempSync(join(place, 'oom-forensics-surroundings-'));
    const recorded = join(inject('logdir'), 'fragmentation');
    source = join(recorded, 'plugins/profile/2026_01_02_03_04_05');
    for (const logdir of ['one', 'two']) {
      cpSync(recorded, join(folder, logdir, 'train'), { recursive: true });
    }
    symlinkSync(join(folder, 'two/train'), join(folder, 'one/linked'));
    for (let number = 0; number < MANY; number += 1) {
      const run = join(folder, 'many', `job_${number}/plugins/profile/run`);
      mkdirSync(run, { recursive: true });
      writeFileSync(join(run, 'host.xplane.pb'), '');
      utimesSync(join(run, 'host.xplane.pb'), 1, 1);
    }
    // An environment without TensorFlow: its import fails as where it is not installed.
    mkdirSync(join(folder, 'without'));
    writeFileSync(join(folder, 'without/tensorflow.py'), "raise ImportError('not installed')\n");
    tensorBoard = await startTensorBoardWith(
      [
        `--logdir_spec=same:${folder}/one,same:${folder}/two,${folder}/many`,
        `--path_prefix=${PREFIX}`,
      ],
      { PYTHONPATH: join(folder, 'without') },
    );
    proxy = await startProxy(PREFIX, tensorBoard.url);
  });
  afterAll(async () => {
    await proxy?.stop();
    await tensorBoard?.stop();
    rmSync(folder, { recursive: true });
  });

  it('both log directories are shown, under names of their own', async () => {
    for (const run of ['same/train/2026_01_02_03_04_05', 'same/train/2026_01_02_03_04_05 (2)']) {
      const opened = await openTab({ url: proxy.url, link: { run } });
      await seesStory(opened);
      expect(await opened.tab.getByLabel('Run', { exact: true }).inputValue()).toBe(run);
      await opened.tab.getByRole('tab', { name: 'Live allocations' }).click();
      await seesView(opened);
      // TensorBoard's own page asks for its fonts beside the prefix; the tab for nothing.
      expect(opened.errors.filter((error) => !error.includes('404'))).toEqual([]);
    }
    expect(proxy.refused.filter((path) => path.includes('oom_forensics'))).toEqual([]);
  });

  it.skipIf(NGINX === undefined)('nginx may stand in front of it', async () => {
    const nginx = await startNginx(NGINX ?? '', PREFIX, tensorBoard.url);
    try {
      const run = 'same/train/2026_01_02_03_04_05';
      const opened = await openTab({ url: nginx.url, link: { run } });
      await seesStory(opened);
      await opened.tab.getByRole('tab', { name: 'Map over time' }).click();
      await seesView(opened);
      expect(opened.errors.filter((error) => !error.includes('404'))).toEqual([]);
    } finally {
      await nginx.stop();
    }
  });

  it('a run is found among ten thousand by a part of its name', async () => {
    const run = 'same/train/2026_01_02_03_04_05';
    const opened = await openTab({ url: proxy.url, link: { run } });
    await seesStory(opened);
    const list = opened.tab.getByLabel('Run', { exact: true });
    expect(await list.locator('option').count()).toBeLessThan(200);
    await opened.tab.getByLabel(/^Search 10,00\d runs$/).fill('JOB_7654');
    await expect
      .poll(() => list.locator('option').allInnerTexts())
      .toEqual(['job_7654/run', run].sort((a) => (a === run ? -1 : 1)));
    // While it is looked at it is being written: first nothing, then all of it.
    await list.selectOption('job_7654/run');
    await opened.tab.getByRole('alert').first().waitFor();
    const trace = readdirSync(source).find((name) => name.endsWith('.xplane.pb')) ?? '';
    copyFileSync(
      join(source, trace),
      join(folder, 'many/job_7654/plugins/profile/run/host.xplane.pb'),
    );
    const story = opened.tab.locator('.story.out-of-memory').first();
    await expect
      .poll(
        async () => {
          await opened.page.locator('app-header-reload button').click();
          return story.isVisible();
        },
        { timeout: 120_000, interval: 1000 },
      )
      .toBe(true);
  });

  it('a link is followed by the tab and the command alike', async () => {
    const logdir = join(folder, 'one');
    const listed = execFileSync(COMMAND, ['runs', logdir, '--json'], { encoding: 'utf8' });
    const runs = (JSON.parse(listed) as { run: string }[]).map(({ run }) => run);
    expect(runs.sort()).toEqual(['linked/2026_01_02_03_04_05', 'train/2026_01_02_03_04_05']);
    for (const run of runs) {
      execFileSync(COMMAND, ['info', logdir, `--run=${run}`]);
    }
    const linked = 'same/linked/2026_01_02_03_04_05';
    const opened = await openTab({ url: proxy.url, link: { run: linked } });
    await seesStory(opened);
    expect(await opened.tab.getByLabel('Run', { exact: true }).inputValue()).toBe(linked);
  });
});

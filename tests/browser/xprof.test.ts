/** xprof's own plugin in the same TensorBoard: both tabs work on the same run. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { FRAGMENTATION, openPage, openTab, seesStory, seesView, useBrowser } from './tab';
import { PYTHON, startTensorBoardWith, type TensorBoard } from './tensorboard';

useBrowser();

/** tools/setup puts it beside the environment, as it brings a tab of its own. */
const XPROF = process.env.OOM_FORENSICS_XPROF ?? join(dirname(PYTHON), '../xprof');

describe.skipIf(!existsSync(XPROF))('beside xprof', () => {
  let logdir: string;
  let tensorBoard: TensorBoard;

  beforeAll(async () => {
    // xprof keeps files of its own in the runs that it shows.
    logdir = mkdtempSync(join(tmpdir(), 'oom-forensics-xprof-'));
    cpSync(join(inject('logdir'), 'fragmentation'), join(logdir, 'fragmentation'), {
      recursive: true,
    });
    tensorBoard = await startTensorBoardWith(['--logdir', logdir], { PYTHONPATH: XPROF });
  });
  afterAll(async () => {
    await tensorBoard?.stop();
    rmSync(logdir, { recursive: true, force: true });
  });

  it('our tab tells its story', async () => {
    const opened = await openTab({ url: tensorBoard.url });
    await seesStory(opened);
    await opened.tab.getByRole('tab', { name: 'Live allocations' }).click();
    await seesView(opened);
  });

  it('and xprof shows the same run in its own', async () => {
    const listed = (await (await fetch(`${tensorBoard.url}/data/plugin/profile/runs`)).json()) as
      | string[]
      | { runs: string[] };
    expect(Array.isArray(listed) ? listed : listed.runs).toContain(FRAGMENTATION);
    const asked = new URLSearchParams({ run: FRAGMENTATION, tag: 'memory_profile' });
    const tools = await fetch(`${tensorBoard.url}/data/plugin/profile/run_tools?${asked}`);
    expect(await tools.text()).toContain('memory_profile');
    const { page } = await openPage(`${tensorBoard.url}/#profile`);
    const tab = page.frameLocator('iframe');
    await tab.getByText(FRAGMENTATION).first().waitFor();
  });
});

/** `%tensorboard` in a real Jupyter, where `tools/setup notebook` has installed it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { FRAGMENTATION, linkFragment, openPage, seesStory, seesView, useBrowser } from './tab';
import { PYTHON } from './tensorboard';

useBrowser();

const JUPYTER = process.env.JUPYTER ?? join(dirname(PYTHON), 'jupyter');

/** A notebook of these cells. */
function notebookOf(...cells: readonly string[]): string {
  return JSON.stringify({
    cells: cells.map((source, number) => ({
      cell_type: 'code',
      execution_count: null,
      id: `cell-${number}`,
      metadata: {},
      outputs: [],
      source,
    })),
    metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5,
  });
}

describe.skipIf(!existsSync(`${JUPYTER}-notebook`))('%tensorboard in a notebook', () => {
  let folder: string;
  let server: ChildProcess;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'oom-forensics-notebook-'));
    writeFileSync(
      join(folder, 'story.ipynb'),
      notebookOf(
        '%load_ext tensorboard',
        `%tensorboard --logdir ${inject('logdir')} --port 0 --host 127.0.0.1`,
        'import os, signal\nfrom tensorboard import notebook, manager\n' +
          '[os.kill(info.pid, signal.SIGTERM) for info in manager.get_all()]\nprint("st" + "opped")',
      ),
    );
    server = spawn(
      JUPYTER,
      [
        'notebook',
        '--no-browser',
        '--allow-root',
        '--ServerApp.ip=127.0.0.1',
        '--ServerApp.port=0',
        '--IdentityProvider.token=',
        `--ServerApp.root_dir=${folder}`,
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        // What a server and its manager keep lies in a folder that goes again.
        env: {
          ...process.env,
          JUPYTER_RUNTIME_DIR: join(folder, 'runtime'),
          PATH: `${dirname(PYTHON)}:${process.env.PATH}`,
          TMPDIR: folder,
        },
      },
    );
    url = await new Promise((found, failed) => {
      let output = '';
      server.stderr?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const address = /(http:\/\/127\.0\.0\.1:\d+)\/tree/.exec(output)?.[1];
        if (address) found(address);
      });
      server.once('exit', () => failed(new Error(`Jupyter ended:\n${output}`)));
    });
  });
  afterAll(async () => {
    if (server.exitCode === null) {
      const ended = new Promise((ends) => server.once('exit', ends));
      server.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows the tab, which tells its story', async () => {
    const { page } = await openPage(`${url}/notebooks/story.ipynb`);
    await page.locator('.jp-CodeCell').first().click();
    const run = () => page.keyboard.press('Shift+Enter');
    await run();
    await run();
    const frame = page.locator('iframe[id^=tensorboard-frame]');
    await frame.waitFor();
    // The tab that is asked for in the address is the one that is shown.
    await expect.poll(() => frame.getAttribute('src')).toMatch(/^http/);
    const link = linkFragment({ run: FRAGMENTATION });
    await frame.evaluate((element, hash) => {
      const own = element as HTMLIFrameElement;
      own.src = `${own.src}${hash}`;
    }, link);
    const tab = page.frameLocator('iframe[id^=tensorboard-frame]').frameLocator('iframe');
    await seesStory({ tab });
    await tab.getByRole('tab', { name: 'Live allocations' }).click();
    await seesView({ tab });
    await page.locator('.jp-CodeCell').last().click();
    await run();
    await page.getByText('stopped', { exact: true }).waitFor();
  });
});

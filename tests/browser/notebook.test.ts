/** `%tensorboard` and traces in a real Jupyter. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { FRAGMENTATION, LEAK, linkFragment, openPage, seesStory, seesView, useBrowser } from './tab';
import { PYTHON } from './tensorboard';

useBrowser();

const JUPYTER = process.env.JUPYTER ?? join(dirname(PYTHON), 'jupyter');

/** The converter that pages hold, in the package that the kernel imports. */
const INSTALLED_MODULE = execFileSync(
  PYTHON,
  ['-P', '-c', 'from oom_forensics.converter.binary import wasm_path; print(wasm_path())'],
  { encoding: 'utf8' },
).trim();

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

/** What JupyterLab and Jupyter Notebook show of themselves to a page, where they are asked to. */
interface Jupyter {
  readonly shell: {
    readonly currentWidget?: {
      readonly context?: {
        readonly sessionContext: {
          readonly ready: Promise<void>;
          readonly session: { readonly kernel: { readonly info: Promise<unknown> } | null } | null;
        };
      };
    } | null;
  };
}

/** Waits until the kernel takes cells: what is run before, a notebook forgets, though it calls itself idle. */
async function isReady(page: Page): Promise<void> {
  const hasKernel = () =>
    page.evaluate(async () => {
      const { jupyterapp } = window as { jupyterapp?: Jupyter };
      const session = jupyterapp?.shell.currentWidget?.context?.sessionContext;
      await session?.ready;
      return (await session?.session?.kernel?.info) !== undefined;
    });
  await expect.poll(hasKernel, { timeout: 90_000 }).toBe(true);
}

/** A run's folder, which has the name of its link's first part, as Python's text. */
const folderOf = (run: string) => JSON.stringify(join(inject('logdir'), dirname(run)));

describe('a notebook', () => {
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
    writeFileSync(
      join(folder, 'trace.ipynb'),
      notebookOf(
        `import oom_forensics\noom_forensics.open(${folderOf(FRAGMENTATION)})`,
        `oom_forensics.open(${folderOf(LEAK)}).show(height=600)`,
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
        // For `isReady`.
        '--JupyterNotebookApp.expose_app_in_browser=True',
        '--LabApp.expose_app_in_browser=True',
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

  it('shows with %tensorboard the tab, which tells its story', async () => {
    const { page } = await openPage(`${url}/notebooks/story.ipynb`);
    await isReady(page);
    await page.locator('.jp-CodeCell').first().click();
    const run = () => page.keyboard.press('Shift+Enter');
    await run();
    await run();
    const frame = page.locator('iframe[id^=tensorboard-frame]');
    await frame.waitFor();
    // The tab that is asked for in the address is the one that is shown. Another query makes it another
    // page: a fragment alone would come too late for a tab that is there already.
    await expect.poll(() => frame.getAttribute('src')).toMatch(/^http/);
    const link = `?darkMode=false${linkFragment({ run: FRAGMENTATION })}`;
    await frame.evaluate((element, asked) => {
      const own = element as HTMLIFrameElement;
      own.src = new URL(asked, own.src).href;
    }, link);
    const tab = page.frameLocator('iframe[id^=tensorboard-frame]').frameLocator('iframe');
    await seesStory({ tab });
    await tab.getByRole('tab', { name: 'Live allocations' }).click();
    await seesView({ tab });
    await page.locator('.jp-CodeCell').last().click();
    await run();
    await page.getByText('stopped', { exact: true }).waitFor();
  });

  const skipped = !existsSync(INSTALLED_MODULE);
  it.skipIf(skipped).each([
    ['Jupyter Notebook', 'notebooks'],
    ['JupyterLab', 'lab/tree'],
  ])('shows a trace in %s as the page, which answers by itself', async (_name, where) => {
    const { page } = await openPage(`${url}/${where}/trace.ipynb`);
    await isReady(page);
    await page.locator('.jp-CodeCell').first().click();
    const frames = page.locator('iframe[title="OOM Forensics"]');
    const shown = (cell: number) => ({ tab: frames.nth(cell).contentFrame() });
    // The cell whose last line is a trace; then the one that shows the trace of a run that leaks.
    for (const cell of [0, 1]) {
      await page.keyboard.press('Shift+Enter');
      await frames.nth(cell).waitFor();
    }
    await seesStory(shown(0));
    await shown(0).tab.getByRole('tab', { name: 'Live allocations' }).click();
    await seesView(shown(0));
    await shown(1).tab.getByRole('tab', { name: 'Leaks' }).click();
    await seesView(shown(1));
    for (const cell of [0, 1]) expect(await shown(cell).tab.getByRole('alert').count()).toBe(0);
    // Nothing but output of HTML: no warning beside it.
    expect(await page.locator('.jp-OutputArea-output[data-mime-type*=stderr]').count()).toBe(0);
    // What is chosen is kept in the frame's own address.
    const address = shown(0).tab.locator('body').evaluate(() => window.location.href);
    expect(await address).toMatch(/^about:srcdoc#.*view=live/);
    expect(await frames.nth(1).evaluate((frame) => (frame as HTMLElement).style.height)).toBe('600px');
  });
});

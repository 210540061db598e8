import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNoErrors, openTab, sees, seesView, useBrowser } from './tab';
import { PYTHON, startTensorBoard, type TensorBoard } from './tensorboard';

useBrowser();

const GROW = resolve(import.meta.dirname, '../live/scripts/grow.py');

let logdir: string;
let job: ChildProcess;
let tensorBoard: TensorBoard;

beforeAll(async () => {
  logdir = mkdtempSync(join(tmpdir(), 'oom-forensics-live-'));
  job = spawn(PYTHON, [GROW, '100000', '0.2'], {
    env: {
      ...process.env,
      CUDA_VISIBLE_DEVICES: '',
      TF_CPU_ALLOCATOR_USE_BFC: '1',
      TF_CPU_BFC_MEM_LIMIT_IN_MB: '4096',
      OOM_FORENSICS_LOGDIR: logdir,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (job.stdout) await once(job.stdout, 'data');
  tensorBoard = await startTensorBoard(logdir);
});

afterAll(async () => {
  job.kill('SIGKILL');
  await tensorBoard.stop();
  rmSync(logdir, { recursive: true });
});

it('shows a job that runs, goes on with it, and says when it has ended', async () => {
  const run = `live: grow.py (${job.pid})`;
  const opened = await openTab({ url: tensorBoard.url, link: { run } });
  await seesView(opened);
  const lastStep = () => opened.tab.getByLabel('At the peak of step').getAttribute('max');
  const first = Number(await lastStep());
  await expect.poll(async () => Number(await lastStep()), { timeout: 60_000 }).toBeGreaterThan(first);
  expectNoErrors(opened);

  const ended = once(job, 'exit');
  job.kill('SIGKILL');
  await ended;
  await sees(opened, `The job of “${run}” has ended.`);
});

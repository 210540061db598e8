/** Once for all browser tests: a log directory from a real OOM, TensorBoard and Chromium. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { PYTHON, startTensorBoard } from './tensorboard';

declare module 'vitest' {
  interface ProvidedContext {
    tensorBoardUrl: string;
    browserEndpoint: string;
    logdir: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const logdir = mkdtempSync(join(tmpdir(), 'oom-forensics-browser-'));
  execFileSync(PYTHON, [join(import.meta.dirname, 'make_logdir.py'), logdir], { stdio: 'inherit' });
  const tensorBoard = await startTensorBoard(logdir);
  const browser = await chromium.launchServer({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  project.provide('tensorBoardUrl', tensorBoard.url);
  project.provide('browserEndpoint', browser.wsEndpoint());
  project.provide('logdir', logdir);
  return async () => {
    await browser.close();
    await tensorBoard.stop();
    rmSync(logdir, { recursive: true });
  };
}

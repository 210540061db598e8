/** A real TensorBoard on a log directory, at a free port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';

const REPOSITORY = resolve(import.meta.dirname, '../..');

/** The Python whose environment has the wheel; tools/test makes it. */
export const PYTHON = process.env.OOM_FORENSICS_PYTHON ?? resolve(REPOSITORY, '.venv/bin/python');

/** The command that the wheel brought with it. */
export const COMMAND = join(dirname(PYTHON), 'oom-forensics');

const START_MS = 120_000;

export interface TensorBoard {
  readonly url: string;
  stop(): Promise<void>;
}

export function startTensorBoard(logdir: string, python = PYTHON): Promise<TensorBoard> {
  return startTensorBoardWith(['--logdir', logdir], {}, python);
}

/** With flags of its own, and variables of its environment. */
export async function startTensorBoardWith(
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  python = PYTHON,
): Promise<TensorBoard> {
  const server = spawn(
    python,
    ['-m', 'tensorboard.main', ...flags, '--port', '0', '--host', '127.0.0.1'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CUDA_VISIBLE_DEVICES: '', ...environment },
    },
  );
  try {
    return { url: await announcedUrl(server), stop: () => stop(server) };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

/** TensorBoard prints its address when it is ready. */
function announcedUrl(server: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = /TensorBoard \S+ at (http:\/\/\S+?)\/? \(/.exec(output)?.[1];
      if (url) found(url);
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.once('exit', () => failed(new Error(`TensorBoard ended:\n${output}`)));
    setTimeout(() => failed(new Error(`TensorBoard does not start:\n${output}`)), START_MS).unref();
  });
}

function stop(server: ChildProcess): Promise<void> {
  return new Promise((stopped) => {
    if (server.exitCode !== null) return stopped();
    server.once('exit', () => stopped());
    server.kill('SIGTERM');
  });
}

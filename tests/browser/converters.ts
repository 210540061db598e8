/** The converters that TensorBoard's plugin has started. */
import { execFileSync } from 'node:child_process';

/** Sends a signal to every converter of a trace below `logdir`. */
export function signalConverters(logdir: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  const found = execFileSync('pgrep', ['-f', `oom-forensics serve.*${logdir}`], { encoding: 'utf8' });
  for (const pid of found.trim().split('\n')) process.kill(Number(pid), signal);
}

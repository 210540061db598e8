/** A real Firefox without a window, driven by the protocol that it has built in (Marionette). */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where there is one; playwright's own cannot drive it. */
export const FIREFOX = [process.env.FIREFOX, '/usr/bin/firefox', '/usr/bin/firefox-esr'].find(
  (path) => path && existsSync(path),
);

const START_MS = 60_000;
const RETRY_MS = 100;

type Answer = [type: number, id: number, error: { message: string } | null, result: { value?: unknown }];

export class Firefox {
  private received = Buffer.alloc(0);
  private lastId = 0;
  private readonly waiting = new Map<number, (answer: Answer) => void>();

  private constructor(
    private readonly process: ChildProcess,
    private readonly profile: string,
    private readonly socket: Socket,
  ) {
    socket.on('data', (data) => this.receive(data));
  }

  static async start(path: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'oom-forensics-firefox-'));
    // A port that is free; Firefox writes which into the profile.
    writeFileSync(join(profile, 'user.js'), 'user_pref("marionette.port", 0);\n');
    const process = spawn(path, ['--headless', '--no-remote', '--marionette', '--profile', profile], {
      stdio: 'ignore',
    });
    const socket = await connected(process, join(profile, 'MarionetteActivePort'));
    const firefox = new Firefox(process, profile, socket);
    await firefox.command('WebDriver:NewSession', {});
    return firefox;
  }

  async open(url: string): Promise<void> {
    await this.command('WebDriver:Navigate', { url });
  }

  /** What the body of a function returns that runs in the page. */
  async evaluate(script: string): Promise<unknown> {
    const { value } = await this.command('WebDriver:ExecuteScript', { script, args: [] });
    return value;
  }

  async quit(): Promise<void> {
    const ended = new Promise((ends) => this.process.once('exit', ends));
    this.socket.destroy();
    this.process.kill('SIGTERM');
    await ended;
    rmSync(this.profile, { recursive: true, force: true });
  }

  private command(name: string, parameters: object): Promise<{ value?: unknown }> {
    this.lastId += 1;
    const id = this.lastId;
    const text = Buffer.from(JSON.stringify([0, id, name, parameters]));
    this.socket.write(`${text.length}:`);
    this.socket.write(text);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ([, , error, result]) => (error ? reject(new Error(error.message)) : resolve(result)));
    });
  }

  /** Messages are JSON behind their length in bytes and a colon. */
  private receive(data: Buffer): void {
    this.received = Buffer.concat([this.received, data]);
    for (;;) {
      const colon = this.received.indexOf(':');
      const end = colon + 1 + Number(this.received.subarray(0, colon));
      if (colon < 0 || this.received.length < end) return;
      const message = JSON.parse(this.received.subarray(colon + 1, end).toString());
      this.received = this.received.subarray(end);
      // The first says who speaks.
      if (Array.isArray(message)) this.waiting.get(message[1])?.(message as Answer);
    }
  }
}

/** Waits until Firefox listens. */
async function connected(process: ChildProcess, portFile: string): Promise<Socket> {
  const last = Date.now() + START_MS;
  for (;;) {
    const port = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : 0;
    if (port) {
      const socket = connect(port, '127.0.0.1');
      await new Promise((listening, failed) => socket.once('connect', listening).once('error', failed));
      return socket;
    }
    if (process.exitCode !== null || Date.now() > last) throw new Error('Firefox does not start.');
    await new Promise((later) => setTimeout(later, RETRY_MS));
  }
}

/** nginx as the reverse proxy in front of a TensorBoard, where it is installed. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** The program; undefined where there is none. Debian keeps it out of the path of most people. */
export function findNginx(): string | undefined {
  for (const program of [process.env.OOM_FORENSICS_NGINX ?? 'nginx', '/usr/sbin/nginx']) {
    try {
      execFileSync(program, ['-v'], { stdio: 'ignore' });
      return program;
    } catch {}
  }
  return undefined;
}

export interface Nginx {
  readonly url: string;
  stop(): Promise<void>;
}

/** Passes everything below `prefix` on to another server, as an administrator would have it. */
export async function startNginx(program: string, prefix: string, target: string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'oom-forensics-nginx-'));
  const port = await freePort();
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
pid ${folder}/pid;
error_log ${folder}/error.log;
${userInfo().uid === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  gzip on;
  gzip_types text/css application/javascript application/json;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location ${prefix}/ { proxy_pass ${target.replace(/(:\d+)\/.*/, '$1')}; }
  }
}
`,
  );
  const server = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: 'inherit',
  });
  const url = `http://127.0.0.1:${port}${prefix}`;
  await answers(url, server);
  return {
    url,
    stop: () =>
      new Promise((stopped) => {
        server.once('exit', () => {
          rmSync(folder, { recursive: true });
          stopped();
        });
        server.kill('SIGTERM');
      }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

async function answers(url: string, server: ChildProcess): Promise<void> {
  while (server.exitCode === null) {
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((passed) => setTimeout(passed, 50));
    }
  }
  throw new Error('nginx has ended');
}

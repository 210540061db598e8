/** A reverse proxy, as one stands in front of a team's TensorBoard. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Proxy {
  readonly url: string;
  /** Paths that were asked for beside the prefix. */
  readonly refused: readonly string[];
  stop(): Promise<void>;
}

/** Passes everything below `prefix` on to another server, and knows nothing else. */
export async function startProxy(prefix: string, target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const refused: string[] = [];
  const server = createServer((asked, answer) => {
    if (!asked.url?.startsWith(prefix)) {
      refused.push(asked.url ?? '');
      answer.writeHead(404).end();
      return;
    }
    const headers = { ...asked.headers, 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' };
    const passed = request(
      { hostname, port, path: asked.url, method: asked.method, headers },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      },
    );
    passed.on('error', () => answer.writeHead(502).end());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}${prefix}`,
    refused,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

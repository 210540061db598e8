/** The converter as a program and as a WebAssembly module, asked the same. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ReplyHeader, ReplyReader } from '../../frontend/src/converter/frames';
import { ConverterModule } from '../../frontend/src/converter/module';

const PACKAGE = resolve(import.meta.dirname, '../../plugin/oom_forensics');
const PROGRAM = join(PACKAGE, 'bin/oom-forensics');

/** Bazel's own output: what is staged in the package may be emptied by whoever builds it meanwhile. */
export const MODULE = resolve(import.meta.dirname, '../../bazel-wasm-bin/converter/wasm/converter.wasm');

export interface Reply {
  readonly header: ReplyHeader;
  readonly body: Buffer;
}

/** The replies of `oom-forensics serve` to requests in JSON, but for progress. */
export function askProgram(path: string, requests: readonly string[]): readonly Reply[] {
  const replies: Reply[] = [];
  const done = spawnSync(PROGRAM, ['serve', path, '--allow-truncated'], {
    input: Buffer.concat(requests.map(frameOf)),
    maxBuffer: 2 ** 30,
  });
  new ReplyReader(collectIn(replies)).push(done.stdout);
  return replies;
}

/** The same of the module, which is given the files of `paths` at the paths that they have on disk. */
export async function askModule(
  path: string,
  paths: readonly string[],
  requests: readonly string[],
): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  const module = await WebAssembly.compile(readFileSync(MODULE));
  const converter = new ConverterModule(module, collectIn(replies));
  for (const each of paths) {
    const bytes = readFileSync(each);
    await converter.putFile(each, bytes.length, [bytes]);
  }
  if (converter.open(path, true)) for (const request of requests) converter.answer(request);
  return replies;
}

function collectIn(replies: Reply[]): (header: ReplyHeader, body: Uint8Array) => void {
  return (header, body) => {
    if (!header.partial) replies.push({ header, body: Buffer.from(body) });
  };
}

function frameOf(request: string): Buffer {
  const bytes = Buffer.from(request);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

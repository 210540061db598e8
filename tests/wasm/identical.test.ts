/** The module answers as the program does, byte for byte: whole traces, damaged ones, several hosts, two runs. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askModule, askProgram, MODULE, type Reply } from './converters';

const GOLDEN = resolve(import.meta.dirname, '../../converter/fuzz/corpus/trace');

const MOMENTS = [{}, { at: { peak: true } }, { at: { end: true } }, { at: { oom: 0 } }, { at: { event: '3' } }];
const GROUPS = 'SCOPE OP ROLE DTYPE SHAPE STEP LINE STACK AGE'.split(' ').map((name) => `GROUP_${name}`);

/** Of every dataset, with moments, groups and filters. */
const QUERIES: readonly object[] = [
  { dataset: 'INFO' },
  { dataset: 'MEMORY_TIMELINE', columns: 300 },
  { dataset: 'MEMORY_TIMELINE', columns: 77, top: 10, groupBy: 'GROUP_SCOPE' },
  { dataset: 'OOM_WINDOW' },
  { dataset: 'LEAKS' },
  { dataset: 'DRIVER_MEMORY' },
  { dataset: 'STEPS', limit: 100 },
  { dataset: 'ADDRESS_HISTORY', columns: 200, rows: 64 },
  { dataset: 'FORECAST', columns: 50 },
  { dataset: 'COMPILED_MODULES', columns: 50 },
  { dataset: 'WHAT_IF', whatIf: { limitBytes: '67108864', maps: true } },
  { dataset: 'WHAT_IF', whatIf: { batchScale: 0.5 } },
  { dataset: 'COMPARE', at: { peak: true }, other: { end: true } },
  ...[0, 1, 2, 5, 40].map((id) => ({ dataset: 'ALLOCATION_LIFE', allocationId: String(id) })),
  ...MOMENTS.flatMap((at) => [
    { dataset: 'ALLOCATIONS', limit: 1000, ...at },
    { dataset: 'FRAGMENTATION', columns: 40, ...at },
    { dataset: 'ALLOCATIONS', ...at, filter: { search: 'MatMul', minBytes: '1024' }, sort: 'SORT_LIFETIME' },
  ]),
  ...GROUPS.map((groupBy) => ({ dataset: 'ALLOCATIONS', groupBy, at: { peak: true } })),
];

const FORMATS = ['PROTOBUF', 'JSON', 'CSV'];

function requests(queries = QUERIES, further: object = {}): readonly string[] {
  return queries
    .flatMap((query) => FORMATS.map((format) => ({ query: JSON.stringify(query), format, ...further })))
    .map((request, index) => JSON.stringify({ id: String(index + 1), ...request }));
}

/** Replies with what tells them apart, bodies as text that a failed test can print. */
function comparable(replies: readonly Reply[]): readonly object[] {
  return replies.map(({ header, body }) => ({ ...header, body: body.toString('latin1') }));
}

/** Numbers of a fixed seed: the same damage in each run (Marsaglia's xorshift). */
function damaged(bytes: Buffer, seed: number): Buffer {
  const copy = Buffer.from(bytes);
  let state = seed;
  for (let flip = 0; flip < 20; flip += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const at = (state >>> 0) % copy.length;
    copy[at] = (copy[at] ?? 0) ^ (1 << (flip % 8));
  }
  return copy;
}

describe.skipIf(!existsSync(MODULE))(
  'the converter as WebAssembly (needs tools/build wasm)',
  () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'oom-forensics-wasm-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    const put = (name: string, bytes: Buffer): string => {
      const path = join(folder, name);
      writeFileSync(path, bytes);
      return path;
    };
    const expectTheSame = async (path: string, paths: readonly string[], asked = requests()) => {
      const program = askProgram(path, asked);
      expect(program.length).toBeGreaterThan(0);
      expect(comparable(await askModule(path, paths, asked))).toEqual(comparable(program));
      return program;
    };

    describe.each(readdirSync(GOLDEN).filter((name) => name.endsWith('.pb')))('%s', (name) => {
      const bytes = readFileSync(join(GOLDEN, name));

      it('whole', async () => {
        const path = join(GOLDEN, name);
        const replies = await expectTheSame(path, [path]);
        expect(replies.length).toBe(requests().length);
        expect(replies.filter(({ header }) => !header.error).length).toBeGreaterThan(60);
      });

      it.each([0.3, 0.5, 0.9])('cut off after %f of it', async (part) => {
        const path = put(`cut.xplane.pb`, bytes.subarray(0, Math.floor(part * bytes.length)));
        await expectTheSame(path, [path]);
      });

      it.each([1, 2, 3, 4, 5, 6, 7, 8])('with flipped bits (%i)', async (seed) => {
        const path = put(`flipped.xplane.pb`, damaged(bytes, seed));
        await expectTheSame(path, [path]);
      });
    });

    it('a file without a byte is the same sentence', async () => {
      const path = put('empty.xplane.pb', Buffer.alloc(0));
      const [reply] = await expectTheSame(path, [path]);
      expect(reply?.header.error).toContain('is empty');
    });

    it('several hosts, and another run to compare with', async () => {
      const run = join(folder, 'hosts');
      mkdirSync(run);
      const paths = ['collector', 'stock'].map((host) => {
        const path = join(run, `${host}.xplane.pb`);
        writeFileSync(path, readFileSync(join(GOLDEN, basename(path))));
        return path;
      });
      await expectTheSame(run, paths);
      const other = join(GOLDEN, 'compiled.xplane.pb');
      const compare = [{ dataset: 'COMPARE', at: { peak: true }, other: { peak: true } }];
      await expectTheSame(run, [...paths, other], requests(compare, { otherPath: other }));
    });
  },
);

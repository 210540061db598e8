/** The memory that a module can have, 4 GiB, and what is said when it is not enough. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReplyHeader } from '../../frontend/src/converter/frames';
import { ConverterModule } from '../../frontend/src/converter/module';
import { MODULE } from './converters';

const TRACE = resolve(import.meta.dirname, '../../converter/fuzz/corpus/trace/compiled.xplane.pb');
const GIB = 2 ** 30;
const LEFT_BYTES = 2 ** 18;
const NOT_ENOUGH = 'more than the 4 GiB';

describe.skipIf(!existsSync(MODULE))('the memory of a module (needs tools/build wasm)', () => {
  const start = async () => {
    const headers: ReplyHeader[] = [];
    const module = await WebAssembly.compile(readFileSync(MODULE));
    return { converter: new ConverterModule(module, (header) => headers.push(header)), headers };
  };
  const putTrace = (converter: ConverterModule) => {
    const bytes = readFileSync(TRACE);
    return converter.putFile('/trace.xplane.pb', bytes.length, [bytes]);
  };

  /** Takes memory until there is as good as none; nothing is written into it, so it costs none here. */
  const fill = async (converter: ConverterModule): Promise<number> => {
    let taken = 0;
    for (let size = GIB; size >= LEFT_BYTES; size /= 2) {
      try {
        for (;;) {
          await converter.putFile(`/file_${taken}`, size, []);
          taken += size;
        }
      } catch (error) {
        expect(String(error)).toContain(NOT_ENOUGH);
      }
    }
    return taken;
  };

  it.each([4, 5, 9])('cannot take a file of %i GiB, and says so', async (size) => {
    const { converter } = await start();
    await expect(converter.putFile('/large', size * GIB, [])).rejects.toThrow(NOT_ENOUGH);
    await putTrace(converter);
    expect(converter.open('/trace.xplane.pb', false)).toBe(true);
  });

  it('is all that can be addressed; a trace that needs more is told in a sentence', async () => {
    const { converter, headers } = await start();
    await putTrace(converter);
    expect(await fill(converter)).toBeGreaterThan(3.9 * GIB);
    expect(converter.open('/trace.xplane.pb', false)).toBe(false);
    expect(headers.at(-1)?.error).toContain('can have (4 GiB)');
  });
});

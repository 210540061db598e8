import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The converter as WebAssembly, in Node, beside the program. */
export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  resolve: { alias: { vitest: resolve(import.meta.dirname, 'node_modules/vitest') } },
  test: {
    include: ['tests/wasm/**/*.test.ts'],
    testTimeout: 240_000,
    // Each test compares what two processes answer.
    fileParallelism: false,
  },
});

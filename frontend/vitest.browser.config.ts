import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

const installed = (name: string) => resolve(import.meta.dirname, 'node_modules', name);

export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  // The tests lie beside the frontend; what they import is installed here.
  resolve: {
    alias: {
      'playwright-core': installed('playwright-core/index.mjs'),
      'axe-core': installed('axe-core/axe.js'),
      vitest: installed('vitest'),
    },
  },
  test: {
    include: ['tests/browser/**/*.test.ts'],
    globalSetup: ['tests/browser/setup.ts'],
    // One after the other: each is a person's hand on a page, with nothing beside it.
    fileParallelism: false,
    testTimeout: 240_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 240_000,
  },
});

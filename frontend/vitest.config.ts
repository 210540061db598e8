import { execFileSync } from 'node:child_process';
import { defineConfig } from 'vitest/config';

// The types of the datasets are made from their schema, never kept.
execFileSync('npm', ['run', '--silent', 'generate']);

export default defineConfig({
  // Tables that C++ is held against, too.
  server: { fs: { allow: ['..'] } },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'] },
});

/** Whether the run has modules that XLA compiled: only then there are blocks to open. */
import { signal } from '@preact/signals';

export const hasCompiledBlocks = signal(false);

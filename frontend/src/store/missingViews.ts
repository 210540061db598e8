/** Views whose dataset the converter does not have: they are not offered. */
import { signal } from '@preact/signals';
import { questionOf } from '../data/client';
import {
  ADDRESS_HISTORY,
  COMPARE,
  COMPILED_MODULES,
  DRIVER_MEMORY,
  FORECAST,
  HOST_MEMORY,
  LEAKS,
  STEPS,
} from '../data/query';
import { DatasetError } from '../data/source';
import type { CompiledModules, HostMemory } from '../generated/datasets_pb';
import { hasCompiledBlocks } from './compiledBlocks';
import type { ViewName } from './selection';
import { client } from './session';
import { filterOf, type Target } from './target';

export const missingViews = signal<ReadonlySet<ViewName>>(new Set());

const PROBES: readonly {
  readonly view: ViewName;
  readonly dataset: Parameters<typeof questionOf>[0];
}[] = [
  { view: 'history', dataset: ADDRESS_HISTORY },
  { view: 'forecast', dataset: FORECAST },
  { view: 'leaks', dataset: LEAKS },
  { view: 'steps', dataset: STEPS },
  { view: 'compare', dataset: COMPARE },
  { view: 'driver', dataset: DRIVER_MEMORY },
  { view: 'host', dataset: HOST_MEMORY },
  { view: 'compiled', dataset: COMPILED_MODULES },
];

/** Asks each optional dataset for as little as it can say. */
export async function findMissingViews(target: Target, signal: AbortSignal): Promise<void> {
  const found = await Promise.all(
    PROBES.map(async ({ view, dataset }) => {
      try {
        const question = questionOf(dataset, target.run, {
          filter: filterOf(target),
          limit: 1,
          rows: 1,
          columns: 1,
        });
        const answer = await client().ask(dataset, question, signal);
        if (view === 'host') return (answer as HostMemory).series.length > 0 ? undefined : view;
        // Without a module there is no block to open, and nothing to show.
        if (view !== 'compiled') return undefined;
        hasCompiledBlocks.value = (answer as CompiledModules).modules.length > 0;
        return hasCompiledBlocks.value ? undefined : view;
      } catch (error) {
        return error instanceof DatasetError && error.unimplemented ? view : undefined;
      }
    }),
  );
  if (!signal.aborted) missingViews.value = new Set(found.filter((view) => view !== undefined));
}

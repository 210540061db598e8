/** The one store: which data there are, and what of them is selected. */
import { create } from '@bufbuild/protobuf';
import { computed, signal } from '@preact/signals';
import type { Client } from '../data/client';
import { questionOf } from '../data/client';
import { INFO, OOM_WINDOW } from '../data/query';
import { DatasetError, type Run } from '../data/source';
import { type Info, type OomWindow, OomWindowSchema } from '../generated/datasets_pb';
import { onFragmentChange, readFragment, writeFragment } from './address';
import { decodeLink, encodeLink } from './link';
import { NOTHING_CHOSEN, type Selection } from './selection';
import { filterOf, resolveTarget, type Target } from './target';

/** Something fetched: not there yet, there, or the reason why not. */
export type Loaded<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly value: Value }
  | { readonly state: 'failed'; readonly error: DatasetError };

const LOADING = { state: 'loading' } as const;

export const selection = signal<Selection>(NOTHING_CHOSEN);
export const runs = signal<Loaded<readonly Run[]>>(LOADING);
export const info = signal<Loaded<Info> & { readonly run?: string }>(LOADING);
/** The OOMs of the allocator on screen: told by the story, marked by several views. */
export const oomWindow = signal<Loaded<OomWindow> & { readonly target?: string }>(LOADING);
/** Counts TensorBoard's reloads; views that fetch depend on it. */
export const reloads = signal(0);
/** Counts the reader's further tries after an error; whatever failed is asked again. */
export const retries = signal(0);

/** The run on screen: the chosen one if it exists, else the newest that is recorded: to look at a job costs it something. */
export const currentRun = computed<Run | undefined>(() => {
  const list = runs.value;
  if (list.state !== 'ready') return undefined;
  return (
    list.value.find(({ run }) => run === selection.value.run) ??
    list.value.find(({ live }) => !live) ??
    list.value[0]
  );
});

/** Run, host and allocator on screen; undefined until the run's info is there. */
export const target = computed<Target | undefined>(() => {
  const run = currentRun.value;
  const known = info.value;
  if (!run || known.state !== 'ready' || known.run !== run.run) return undefined;
  return resolveTarget(run.run, known.value, selection.value);
});

/** The chosen run, if it was a job that runs no more: it leaves the list as it ends. */
export const endedJob = computed<string | undefined>(() => {
  const { run } = selection.value;
  return run.startsWith('live: ') && currentRun.value?.run !== run ? run : undefined;
});

let currentClient: Client | undefined;

/** The client that render() was given. */
export function client(): Client {
  if (!currentClient) throw new Error('the session has not been started');
  return currentClient;
}

/** Changes the selection. `push` makes the change a step of the back button. */
export function select(patch: Partial<Selection>, history: 'push' | 'replace' = 'push'): void {
  const before = selection.peek();
  const movedElsewhere =
    patch.run !== undefined || patch.host !== undefined || patch.allocator !== undefined;
  // A moment, a window or an allocation means nothing in another allocator.
  const forgotten = movedElsewhere
    ? {
        at: NOTHING_CHOSEN.at,
        window: undefined,
        allocation: undefined,
        steps: [],
        ...(before.otherRun === '' && { otherAt: NOTHING_CHOSEN.otherAt }),
      }
    : {};
  selection.value = { ...before, ...forgotten, ...patch };
  writeFragment(encodeLink(selection.value, readFragment()), history === 'push');
}

/** Starts the store: reads the address, then the list of runs. Returns how to stop it. */
export function startSession(withClient: Client): () => void {
  currentClient = withClient;
  selection.value = decodeLink(readFragment());
  const stopListening = onFragmentChange(() => {
    selection.value = decodeLink(readFragment());
  });
  void loadRuns();
  return stopListening;
}

/** Reads the list of runs, and then what is in the one on screen. */
export async function loadRuns(): Promise<void> {
  runs.value = await settled(client().runs());
}

/** What TensorBoard's reload button does: everything is asked again. */
export async function reload(): Promise<void> {
  client().clear();
  await loadRuns();
  // A run that is still being opened is as new as the reload: to begin again would only delay it.
  if (!currentRun.peek() || info.peek().state !== 'loading') reloads.value += 1;
}

/** Forgets what is on screen: the files behind its run are others now. */
export function startAgain(): void {
  client().clear();
  info.value = LOADING;
  oomWindow.value = LOADING;
  reloads.value += 1;
}

/** Asks again for all that failed: one dead converter makes several views fail at once. */
export function tryAgain(): void {
  if (runs.peek().state === 'failed') void loadRuns();
  retries.value += 1;
}

/** Reads what is in `run`. Called whenever the run on screen changes. */
export async function loadInfo(run: string, abort?: AbortSignal): Promise<void> {
  if (info.peek().run !== run) info.value = { ...LOADING, run };
  const answer = await settled(client().ask(INFO, questionOf(INFO, run, {}), abort));
  if (!abort?.aborted) info.value = { ...answer, run };
}

/** Reads the OOMs of the allocator on screen. */
export async function loadOoms(shown: Target, abort?: AbortSignal): Promise<void> {
  const name = targetName(shown);
  if (oomWindow.peek().target !== name) oomWindow.value = { ...LOADING, target: name };
  const question = questionOf(OOM_WINDOW, shown.run, { filter: filterOf(shown) });
  const answer = await settled(
    shown.allocator.oomCount === 0n
      ? create(OomWindowSchema)
      : client().ask(OOM_WINDOW, question, abort),
  );
  if (!abort?.aborted) oomWindow.value = { ...answer, target: name };
}

async function settled<Value>(answer: Value | Promise<Value>): Promise<Loaded<Value>> {
  try {
    return { state: 'ready', value: await answer };
  } catch (error) {
    return { state: 'failed', error: DatasetError.of(error) };
  }
}

/** The same text for the same run, host and allocator. */
export function targetName({ run, host, allocator }: Target): string {
  return JSON.stringify([run, host.host, allocator.allocator]);
}

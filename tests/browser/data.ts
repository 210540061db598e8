/** What the plugin answers, asked beside the tab: what the tab has to show. */
import { inject } from 'vitest';

/** The first out-of-memory error of a run, in the JSON of proto/datasets.proto. */
export interface OomJson {
  readonly request: { readonly opName: string; readonly requestedBytes: string; readonly shape: string[] };
  readonly verdict: { readonly kind: string; readonly sentence: string };
  readonly opening: { readonly whatHappened: string; readonly holders: readonly string[] };
  readonly remedies: readonly { readonly code: string }[];
}

export async function firstOom(run: string): Promise<OomJson> {
  const url = new URL('/data/plugin/oom_forensics/data', inject('tensorBoardUrl'));
  url.searchParams.set('run', run);
  url.searchParams.set('query', JSON.stringify({ dataset: 'OOM_WINDOW' }));
  url.searchParams.set('format', 'json');
  const { ooms } = (await (await fetch(url)).json()) as { ooms: OomJson[] };
  if (!ooms[0]) throw new Error(`${run} has no out-of-memory error`);
  return ooms[0];
}

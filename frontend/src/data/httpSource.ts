import { DatasetError, type Question, type Run, type Source, type TextFormat } from './source';

/** Tells the plugin that its own tab asks: no page of another origin can send it. */
const TAB_HEADER = { 'X-Oom-Forensics-Tab': '1' };

/** In an answer: the version of the trace that it is of. */
const VERSION_HEADER = 'X-Oom-Forensics-Trace-Version';

/** Asks the routes of the TensorBoard plugin below `base`. */
export class HttpSource implements Source {
  private readonly versions = new Map<string, string>();

  /** `onNewVersion` is called when an answer is of newer traces than the ones before. */
  constructor(
    private readonly base: URL,
    private readonly onNewVersion: (run: string) => void = () => {},
  ) {}

  async runs(signal?: AbortSignal): Promise<readonly Run[]> {
    const response = await this.get(new URL('runs', this.base), signal);
    const runs = (await response.json()) as Run[];
    for (const { run, version } of runs) if (version) this.versions.set(run, version);
    return runs;
  }

  versionOf(run: string): string {
    return this.versions.get(run) ?? '';
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Uint8Array> {
    const response = await this.get(this.dataUrl(question, 'protobuf'), signal);
    const body = new Uint8Array(await response.arrayBuffer());
    this.learn(question.run, response.headers.get(VERSION_HEADER));
    return body;
  }

  async fileOf(question: Question, format: TextFormat): Promise<Blob> {
    return (await this.get(this.dataUrl(question, format))).blob();
  }

  cancel(): void {
    // The plugin sees that nobody waits for its answers.
  }

  async progress(run: string, signal?: AbortSignal): Promise<number | undefined> {
    const url = new URL('progress', this.base);
    url.searchParams.set('run', run);
    const answer: unknown = await (await this.get(url, signal)).json();
    const progress = (answer as { progress?: unknown } | null)?.progress;
    return typeof progress === 'number' ? progress : undefined;
  }

  private learn(run: string, version: string | null): void {
    const known = this.versions.get(run);
    if (!version || version === known) return;
    this.versions.set(run, version);
    if (known !== undefined) this.onNewVersion(run);
  }

  private dataUrl(question: Question, format: 'protobuf' | TextFormat): URL {
    const url = new URL('data', this.base);
    url.searchParams.set('run', question.run);
    if (question.otherRun !== '') url.searchParams.set('other_run', question.otherRun);
    url.searchParams.set('query', question.query);
    url.searchParams.set('format', format);
    return url;
  }

  private async get(url: URL, signal?: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(url, { headers: TAB_HEADER, ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new DatasetError(
        'TensorBoard does not answer. Is it still running? Reload the page when it is back.',
        0,
      );
    }
    if (!response.ok) throw new DatasetError(await sentenceOf(response), response.status);
    return response;
  }
}

/** The server's own sentence, whether it came as JSON or as text. */
async function sentenceOf(response: Response): Promise<string> {
  const text = (await response.text()).trim();
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string' && error !== '') return error;
  } catch {
    // Plain text: used as it is.
  }
  if (text !== '' && !text.startsWith('<')) return text;
  return `The server answered with status ${response.status} and no explanation.`;
}

import { DatasetError, type Question, type Run, type Source, type TextFormat } from './source';

/** Asks the routes of the TensorBoard plugin below `base`. */
export class HttpSource implements Source {
  readonly offline = false;

  constructor(private readonly base: URL) {}

  async runs(signal?: AbortSignal): Promise<readonly Run[]> {
    const response = await this.get(new URL('runs', this.base), signal);
    return (await response.json()) as Run[];
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Uint8Array> {
    const response = await this.get(this.dataUrl(question, 'protobuf'), signal);
    return new Uint8Array(await response.arrayBuffer());
  }

  downloadUrl(question: Question, format: TextFormat): string {
    return this.dataUrl(question, format).href;
  }

  storedMoments(): undefined {
    return undefined;
  }

  async progress(run: string, signal?: AbortSignal): Promise<number | undefined> {
    const url = new URL('progress', this.base);
    url.searchParams.set('run', run);
    const answer: unknown = await (await this.get(url, signal)).json();
    const progress = (answer as { progress?: unknown } | null)?.progress;
    return typeof progress === 'number' ? progress : undefined;
  }

  async cancel(run: string): Promise<void> {
    const url = new URL('cancel', this.base);
    url.searchParams.set('run', run);
    await fetch(url, { method: 'POST' });
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
      response = await fetch(url, signal ? { signal } : {});
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

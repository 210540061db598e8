import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { decode } from './decode';
import { canonicalQuery, type Dataset, type QueryFields } from './query';
import { DatasetError, type Question, type Run, type Source, type TextFormat } from './source';

/** Bytes of answers, as they came, that are kept; the least recently used go first. Decoded they take four times as much. */
const CACHE_BYTES = 24 * 2 ** 20;

interface Answer {
  readonly message: unknown;
  readonly bytes: number;
}

/** Typed questions to a Source, with a bounded cache of decoded answers. */
export class Client {
  private readonly answers = new Map<string, Answer>();
  private cachedBytes = 0;
  /** Counts clear(): an answer that was asked for before it is not kept. */
  private clears = 0;
  private onTheirWay = 0;
  /** How to end what is asked about each run. */
  private readonly cancels = new Map<string, AbortController>();

  constructor(
    private readonly source: Source,
    private readonly cacheBytes = CACHE_BYTES,
  ) {}

  /** Ends all that this page waits for of a run; others who ask about it go on. */
  cancel(run: string): void {
    this.cancels.get(run)?.abort();
    this.cancels.delete(run);
    this.source.cancel(run);
  }

  runs(signal?: AbortSignal): Promise<readonly Run[]> {
    return this.source.runs(signal);
  }

  /** The answer if it is in the cache: lets a view draw without a frame of waiting. */
  peek<Schema extends DescMessage>(
    _dataset: Dataset<Schema>,
    question: Question,
  ): MessageShape<Schema> | undefined {
    const key = this.keyOf(question);
    const answer = this.answers.get(key);
    if (!answer) return undefined;
    this.answers.delete(key);
    this.answers.set(key, answer);
    return answer.message as MessageShape<Schema>;
  }

  async ask<Schema extends DescMessage>(
    dataset: Dataset<Schema>,
    question: Question,
    signal?: AbortSignal,
  ): Promise<MessageShape<Schema>> {
    const known = this.peek(dataset, question);
    if (known) return known;
    const { clears } = this;
    const body = await this.askUntilEnded(question, signal);
    let message: MessageShape<Schema>;
    try {
      message = decode(dataset.schema, body);
    } catch {
      throw new DatasetError(
        'The answer cannot be read. Is this page older than the installed oom-forensics? Reload it.',
        0,
      );
    }
    if (clears === this.clears) {
      this.keep(this.keyOf(question), { message, bytes: body.byteLength });
    }
    return message;
  }

  /** Whether an answer is on its way: what plays by itself waits for it. */
  get busy(): boolean {
    return this.onTheirWay > 0;
  }

  /** Asks the source, until the asker or cancel() ends it. */
  private async askUntilEnded(question: Question, signal?: AbortSignal): Promise<Uint8Array> {
    const cancel = this.cancels.get(question.run) ?? new AbortController();
    this.cancels.set(question.run, cancel);
    this.onTheirWay += 1;
    try {
      return await this.source.ask(
        question,
        AbortSignal.any(signal ? [signal, cancel.signal] : [cancel.signal]),
      );
    } catch (error) {
      if (!cancel.signal.aborted || signal?.aborted) throw error;
      throw new DatasetError('The work was cancelled.', 0);
    } finally {
      this.onTheirWay -= 1;
    }
  }

  fileOf(question: Question, format: TextFormat): Promise<Blob> {
    return this.source.fileOf(question, format);
  }

  progress(run: string, signal?: AbortSignal): Promise<number | undefined> {
    return this.source.progress(run, signal);
  }

  /** Forgets every answer, as TensorBoard's reload asks. */
  clear(): void {
    this.clears += 1;
    this.answers.clear();
    this.cachedBytes = 0;
  }

  private keyOf({ run, otherRun, query }: Question): string {
    const version = (name: string) => (name === '' ? '' : this.source.versionOf(name));
    return JSON.stringify([run, version(run), otherRun, version(otherRun), query]);
  }

  private keep(key: string, answer: Answer): void {
    this.cachedBytes += answer.bytes - (this.answers.get(key)?.bytes ?? 0);
    this.answers.delete(key);
    this.answers.set(key, answer);
    for (const [oldest, { bytes }] of this.answers) {
      if (this.cachedBytes <= this.cacheBytes || oldest === key) break;
      this.answers.delete(oldest);
      this.cachedBytes -= bytes;
    }
  }
}

/** Makes the question that a dataset and its fields stand for. */
export function questionOf(
  dataset: Dataset<DescMessage>,
  run: string,
  fields: QueryFields,
  otherRun = '',
): Question {
  return { run, otherRun, query: canonicalQuery(dataset.kind, fields) };
}

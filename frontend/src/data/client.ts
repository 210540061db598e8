import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { canonicalQuery, type Dataset, type QueryFields } from './query';
import {
  DatasetError,
  type Question,
  type Run,
  type Source,
  type StoredMoment,
  type TextFormat,
} from './source';

/** Bytes of answers that are kept; the least recently used go first. */
const CACHE_BYTES = 48 * 2 ** 20;

interface Answer {
  readonly message: unknown;
  readonly bytes: number;
}

/** Typed questions to a Source, with a bounded cache of decoded answers. */
export class Client {
  private readonly answers = new Map<string, Answer>();
  private cachedBytes = 0;

  constructor(
    private readonly source: Source,
    private readonly cacheBytes = CACHE_BYTES,
  ) {}

  get offline(): boolean {
    return this.source.offline;
  }

  cancel(run: string): Promise<void> {
    return this.source.cancel(run);
  }

  runs(signal?: AbortSignal): Promise<readonly Run[]> {
    return this.source.runs(signal);
  }

  /** The answer if it is in the cache: lets a view draw without a frame of waiting. */
  peek<Schema extends DescMessage>(
    _dataset: Dataset<Schema>,
    question: Question,
  ): MessageShape<Schema> | undefined {
    const key = keyOf(question);
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
    const body = await this.source.ask(question, signal);
    let message: MessageShape<Schema>;
    try {
      message = fromBinary(dataset.schema, body);
    } catch {
      throw new DatasetError(
        'The answer cannot be read. Is this page older than the installed oom-forensics? Reload it.',
        0,
      );
    }
    this.keep(keyOf(question), { message, bytes: body.byteLength });
    return message;
  }

  downloadUrl(question: Question, format: TextFormat): string | undefined {
    return this.source.downloadUrl(question, format);
  }

  storedMoments(host: string, allocator: string): readonly StoredMoment[] | undefined {
    return this.source.storedMoments(host, allocator);
  }

  progress(run: string, signal?: AbortSignal): Promise<number | undefined> {
    return this.source.progress(run, signal);
  }

  /** Forgets every answer, as TensorBoard's reload asks. */
  clear(): void {
    this.answers.clear();
    this.cachedBytes = 0;
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

function keyOf(question: Question): string {
  return JSON.stringify([question.run, question.otherRun, question.query]);
}

/** One converter in a worker, and what it is asked: it has one run open. */
import type { FromWorker, ToWorker, TraceFile } from '../converter/messages';
import { DatasetError } from './source';

/** A run whose files the page has itself. */
export interface LocalRun {
  readonly run: string;
  /** One of each host. */
  readonly files: readonly TraceFile[];
  /** Whether what is whole of a file that was cut off is read. */
  readonly allowTruncated: boolean;
}

/** How to start a converter. */
export interface ConverterParts {
  readonly startWorker: () => Worker;
  /** The module, packed by gzip or not. */
  readonly wasm: () => Promise<Blob>;
}

interface Work {
  readonly query: string;
  readonly format: string;
  /** COMPARE: the run of the second moment. */
  readonly other: LocalRun | undefined;
  readonly resolve: (body: Uint8Array<ArrayBuffer>) => void;
  readonly reject: (error: unknown) => void;
}

/** absl::StatusCode of what this version has no answer to. */
const UNIMPLEMENTED = 12;

/** Questions wait here, not in the worker: who does not wait any more is left out. */
export class Conversation {
  /** How much of the run has been read, 0..1; undefined: nothing is being read. */
  progress: number | undefined;
  private worker: Worker | undefined;
  private waiting: Work[] = [];
  private inHand: Work | undefined;
  private lastId = 0;
  /** The runs whose files the worker has. */
  private readonly given = new Set<string>();

  constructor(
    private readonly run: LocalRun,
    private readonly parts: ConverterParts,
  ) {}

  /** The answer to the JSON of a Query. */
  ask(
    query: string,
    format: string,
    other: LocalRun | undefined,
    signal?: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const work = { query, format, other, resolve, reject };
      signal?.addEventListener('abort', () => {
        this.waiting = this.waiting.filter((each) => each !== work);
        // What is in hand goes on, and nobody hears of it.
        reject(signal.reason);
      });
      this.waiting.push(work);
      void this.next();
    });
  }

  /** Ends the converter and whatever it does; the next question starts another. */
  end(reason: DatasetError): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.progress = undefined;
    this.given.clear();
    const unanswered = [...(this.inHand ? [this.inHand] : []), ...this.waiting];
    this.inHand = undefined;
    this.waiting = [];
    for (const { reject } of unanswered) reject(reason);
  }

  private async next(): Promise<void> {
    if (this.inHand || this.waiting.length === 0) return;
    const work = this.waiting.shift() as Work;
    this.inHand = work;
    try {
      const worker = this.worker ?? (await this.start());
      // It was ended meanwhile.
      if (this.inHand !== work) return;
      if (work.other) this.give(worker, work.other);
      this.lastId += 1;
      const other = work.other ? `,"otherPath":${JSON.stringify(folderOf(work.other))}` : '';
      const request = `{"id":"${this.lastId}","query":${JSON.stringify(work.query)},"format":"${work.format}"${other}}`;
      send(worker, { kind: 'ask', request });
    } catch (error) {
      this.end(DatasetError.of(error));
    }
  }

  private async start(): Promise<Worker> {
    this.progress = 0;
    const wasm = await this.parts.wasm();
    // It was ended and started again meanwhile.
    if (this.worker) return this.worker;
    const worker = this.parts.startWorker();
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.hear(data);
    worker.onerror = () => this.end(new DatasetError('The converter could not be started.', 0));
    this.worker = worker;
    send(worker, { kind: 'start', wasm });
    this.give(worker, this.run);
    send(worker, {
      kind: 'open',
      folder: folderOf(this.run),
      allowTruncated: this.run.allowTruncated,
    });
    return worker;
  }

  private give(worker: Worker, run: LocalRun): void {
    if (this.given.has(run.run)) return;
    this.given.add(run.run);
    send(worker, { kind: 'put', folder: folderOf(run), files: run.files });
  }

  private hear(message: FromWorker): void {
    switch (message.kind) {
      case 'progress':
        this.progress = message.progress;
        return;
      case 'opened':
        this.progress = undefined;
        return;
      case 'failed':
        this.end(new DatasetError(message.sentence, 0));
        return;
      case 'reply': {
        const { error, code } = message.header;
        const work = this.inHand;
        this.inHand = undefined;
        if (!error) work?.resolve(message.body);
        else work?.reject(new DatasetError(error, code === UNIMPLEMENTED ? 501 : 400));
        void this.next();
      }
    }
  }
}

/** Where the worker finds the files of a run. */
function folderOf({ run }: LocalRun): string {
  return `/${run}`;
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

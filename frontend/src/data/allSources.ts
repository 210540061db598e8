import { DatasetError, type Question, type Run, type Source, type TextFormat } from './source';
import type { WorkerSource } from './workerSource';

/** TensorBoard's runs, and beside them the files that the reader has opened. */
export class AllSources implements Source {
  constructor(
    private readonly server: Source,
    private readonly opened: WorkerSource,
  ) {}

  async runs(signal?: AbortSignal): Promise<readonly Run[]> {
    return [...(await this.opened.runs()), ...(await this.server.runs(signal))];
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Uint8Array> {
    return this.sourceOf(question).ask(question, signal);
  }

  async fileOf(question: Question, format: TextFormat): Promise<Blob> {
    return this.sourceOf(question).fileOf(question, format);
  }

  cancel(run: string): void {
    this.of(run).cancel(run);
  }

  versionOf(run: string): string {
    return this.of(run).versionOf(run);
  }

  progress(run: string, signal?: AbortSignal): Promise<number | undefined> {
    return this.of(run).progress(run, signal);
  }

  private of(run: string): Source {
    return this.opened.has(run) ? this.opened : this.server;
  }

  private sourceOf({ run, otherRun }: Question): Source {
    if (otherRun !== '' && this.of(otherRun) !== this.of(run)) {
      throw new DatasetError(
        'An opened file can be compared with another opened file: open both.',
        400,
      );
    }
    return this.of(run);
  }
}

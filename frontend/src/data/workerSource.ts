import { Conversation, type ConverterParts, type LocalRun } from './conversation';
import { DatasetError, type Question, type Run, type Source, type TextFormat } from './source';

/** Asks the converter in the page itself; each run has a worker of its own. */
export class WorkerSource implements Source {
  private readonly local = new Map<string, LocalRun>();
  /** How often the files of a run were opened. */
  private readonly versions = new Map<string, number>();
  private readonly conversations = new Map<string, Conversation>();

  constructor(
    private readonly parts: ConverterParts,
    runs: readonly LocalRun[] = [],
  ) {
    this.add(runs);
  }

  /** Further runs, or other files of a known one. */
  add(runs: readonly LocalRun[]): void {
    for (const run of runs) {
      this.cancel(run.run);
      this.conversations.delete(run.run);
      this.local.set(run.run, run);
      this.versions.set(run.run, (this.versions.get(run.run) ?? 0) + 1);
    }
  }

  has(run: string): boolean {
    return this.local.has(run);
  }

  async runs(): Promise<readonly Run[]> {
    return [...this.local.values()].map(({ run, files }) => ({
      run,
      hosts: files.map(({ name }) => name.replace(/\.xplane\.pb$/, '')),
    }));
  }

  ask(question: Question, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return this.answer(question, 'PROTOBUF', signal);
  }

  async fileOf(question: Question, format: TextFormat): Promise<Blob> {
    return new Blob([await this.answer(question, format.toUpperCase())]);
  }

  cancel(run: string): void {
    this.conversations.get(run)?.end(new DatasetError('The work was cancelled.', 0));
  }

  async progress(run: string): Promise<number | undefined> {
    return this.conversations.get(run)?.progress;
  }

  versionOf(run: string): string {
    return String(this.versions.get(run) ?? '');
  }

  private async answer(
    { run, otherRun, query }: Question,
    format: string,
    signal?: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const other = otherRun === '' || otherRun === run ? undefined : this.runOf(otherRun);
    const talk = this.conversations.get(run) ?? new Conversation(this.runOf(run), this.parts);
    this.conversations.set(run, talk);
    return talk.ask(query, format, other, signal);
  }

  private runOf(run: string): LocalRun {
    const found = this.local.get(run);
    if (!found) throw new DatasetError(`There is no run ${run} in this page.`, 404);
    return found;
  }
}

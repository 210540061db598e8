/** Where datasets come from: TensorBoard's plugin, or the converter in the page itself. */

/** One run as the plugin lists it. */
export interface Run {
  readonly run: string;
  readonly hosts: readonly string[];
  /** Another one whenever its traces are other files; undefined: they never change. */
  readonly version?: string;
  /** A job that runs: its traces are others each time that the list is asked for. */
  readonly live?: boolean;
}

/** A question as the plugin takes it: the canonical JSON of a proto Query. */
export interface Question {
  readonly run: string;
  /** COMPARE: the run of the second moment; empty: the same. */
  readonly otherRun: string;
  readonly query: string;
}

export type TextFormat = 'json' | 'csv';

export interface Source {
  runs(signal?: AbortSignal): Promise<readonly Run[]>;
  /** The answer as binary protobuf. Rejects with a DatasetError. Work that is aborted ends. */
  ask(question: Question, signal?: AbortSignal): Promise<Uint8Array>;
  /** The version of a run that the last list or answer was of; what is kept is kept under it. */
  versionOf(run: string): string;
  /** The same answer as a file to save. */
  fileOf(question: Question, format: TextFormat): Promise<Blob>;
  /** Ends what is worked on for a run: the reader does not wait any more. */
  cancel(run: string): void;
  /** How much of the trace has been read, 0..1; undefined: not known. */
  progress(run: string, signal?: AbortSignal): Promise<number | undefined>;
}

/** Why there is no answer, in one sentence for the user. */
export class DatasetError extends Error {
  constructor(
    message: string,
    /** HTTP status; 0: the server was not reached. */
    readonly status: number,
  ) {
    super(message);
    this.name = 'DatasetError';
  }

  /** Whatever was thrown, as one. */
  static of(error: unknown): DatasetError {
    if (error instanceof DatasetError) return error;
    return new DatasetError(error instanceof Error ? error.message : String(error), 0);
  }

  /** The converter does not have this dataset (yet): its view is left out. */
  get unimplemented(): boolean {
    return this.status === 501;
  }
}

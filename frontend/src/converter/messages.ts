/** What page and worker tell each other. */
import type { ReplyHeader } from './frames';

/** A file of a run as the page has it: plain, or packed by gzip. */
export interface TraceFile {
  /** "host.xplane.pb" */
  readonly name: string;
  readonly data: Blob;
}

export type ToWorker =
  /** The module; first of all. */
  | { readonly kind: 'start'; readonly wasm: Blob }
  /** Files to open or to compare with, in a folder of their own. */
  | { readonly kind: 'put'; readonly folder: string; readonly files: readonly TraceFile[] }
  | { readonly kind: 'open'; readonly folder: string; readonly allowTruncated: boolean }
  /** A ServiceRequest in JSON. */
  | { readonly kind: 'ask'; readonly request: string };

export type FromWorker =
  | { readonly kind: 'progress'; readonly progress: number }
  | { readonly kind: 'opened' }
  | { readonly kind: 'reply'; readonly header: ReplyHeader; readonly body: Uint8Array<ArrayBuffer> }
  /** Nothing more can be asked: one sentence. */
  | { readonly kind: 'failed'; readonly sentence: string };

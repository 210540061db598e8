/** The converter as a WebAssembly module (converter/wasm/abi.cc), in the thread that calls it. */
import { type ReplyHeader, ReplyReader } from './frames';

/** What the module exports. Pointers are unsigned 32 bits, which JavaScript shows as signed. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly _initialize: () => void;
  readonly allocate: (sizeBytes: number) => number;
  readonly release: (memory: number) => void;
  readonly put_file: (path: number, pathBytes: number, data: number, dataBytes: number) => void;
  readonly open_run: (
    path: number,
    pathBytes: number,
    maxMemoryMb: number,
    allowTruncated: number,
  ) => number;
  readonly answer: (request: number, requestBytes: number) => void;
}

export type OnReply = (header: ReplyHeader, body: Uint8Array<ArrayBuffer>) => void;

/** As many bytes as a pointer can tell apart. */
const ADDRESSABLE_BYTES = 2 ** 32;

/** WASI's error for what a host does not have. */
const ENOSYS = 52;
const STDOUT = 1;

/** Why a module cannot go on; for the user. */
export class ConverterEnded extends Error {}

export class ConverterModule {
  private readonly exports: Exports;
  private readonly replies: ReplyReader;
  private errors = '';

  /** `onReply` is called with every reply, of progress too, while one of the methods runs. */
  constructor(module: WebAssembly.Module, onReply: OnReply) {
    this.replies = new ReplyReader(onReply);
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: this.wasi() });
    this.exports = instance.exports as unknown as Exports;
    this.exports._initialize();
  }

  /** Puts a file of a known size at `path`; `pieces` are its bytes. */
  async putFile(
    path: string,
    sizeBytes: number,
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<void> {
    const data = this.allocate(sizeBytes);
    let filled = 0;
    for await (const piece of pieces) {
      this.bytes(data + filled, piece.length).set(piece);
      filled += piece.length;
    }
    this.withText(path, (text, bytes) => this.exports.put_file(text, bytes, data, sizeBytes));
  }

  /** Opens a file, or all files of a folder; whether it could. The replies say why not. */
  open(path: string, allowTruncated: boolean): boolean {
    const opened = this.withText(path, (text, bytes) =>
      this.exports.open_run(text, bytes, 0, Number(allowTruncated)),
    );
    return opened !== 0;
  }

  /** Answers a ServiceRequest in JSON. */
  answer(request: string): void {
    this.withText(request, (text, bytes) => this.exports.answer(text, bytes));
  }

  private withText<Result>(text: string, use: (at: number, bytes: number) => Result): Result {
    const encoded = new TextEncoder().encode(text);
    const at = this.allocate(encoded.length);
    this.bytes(at, encoded.length).set(encoded);
    try {
      return this.guarded(() => use(at, encoded.length));
    } finally {
      this.exports.release(at);
    }
  }

  private allocate(sizeBytes: number): number {
    // A larger number would arrive without its upper bits.
    const fits = sizeBytes < ADDRESSABLE_BYTES;
    const at = fits ? this.exports.allocate(Math.max(1, sizeBytes)) >>> 0 : 0;
    if (at === 0) {
      throw new ConverterEnded(
        'This is more than the 4 GiB that the converter can have in a browser; open it with oom-forensics on Linux.',
      );
    }
    return at;
  }

  private guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      const said = this.errors.trim().split('\n').at(-1);
      throw new ConverterEnded(
        `The converter ended unexpectedly (${said || (error instanceof Error ? error.message : error)}).`,
      );
    }
  }

  /** The memory moves when it grows: views are made again. */
  private bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, at >>> 0, length);
  }

  /** The functions of WASI that the C library calls. There are no files, arguments or variables. */
  private wasi(): WebAssembly.ModuleImports {
    const view = () => new DataView(this.exports.memory.buffer);
    return {
      fd_write: (file: number, vectors: number, count: number, written: number) => {
        let total = 0;
        for (let index = 0; index < count; index += 1) {
          const at = (vectors >>> 0) + 8 * index;
          const length = view().getUint32(at + 4, true);
          const piece = this.bytes(view().getUint32(at, true), length);
          if (file === STDOUT) this.replies.push(piece);
          else this.errors = (this.errors + new TextDecoder().decode(piece)).slice(-1000);
          total += length;
        }
        view().setUint32(written >>> 0, total, true);
        return 0;
      },
      clock_time_get: (_clock: number, _precision: bigint, time: number) => {
        view().setBigUint64(time >>> 0, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      environ_sizes_get: (count: number, bytes: number) => {
        view().setUint32(count >>> 0, 0, true);
        view().setUint32(bytes >>> 0, 0, true);
        return 0;
      },
      environ_get: () => 0,
      proc_exit: (code: number) => {
        throw new Error(`it exited with ${code}`);
      },
      fd_close: () => ENOSYS,
      fd_read: () => ENOSYS,
      fd_seek: () => ENOSYS,
    };
  }
}

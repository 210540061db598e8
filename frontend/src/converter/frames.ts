/** The frames of proto/service.proto, out of a stream of bytes. */

/** The header of a reply: proto ServiceResponse as JSON. */
export interface ReplyHeader {
  /** Absent in progress. */
  readonly id?: string;
  readonly partial?: boolean;
  readonly progress?: number;
  readonly error?: string;
  /** absl::StatusCode of the error. */
  readonly code?: number;
}

const LENGTH_BYTES = 4;

/** Puts replies together from pieces of any size. */
export class ReplyReader {
  private isLength = true;
  private frame = new Uint8Array(LENGTH_BYTES);
  private filled = 0;
  private header: ReplyHeader | undefined;

  constructor(
    private readonly onReply: (header: ReplyHeader, body: Uint8Array<ArrayBuffer>) => void,
  ) {}

  /** Takes a copy of what it needs: the piece may be overwritten afterwards. */
  push(piece: Uint8Array): void {
    let taken = 0;
    while (taken < piece.length || this.filled === this.frame.length) {
      const part = piece.subarray(taken, taken + this.frame.length - this.filled);
      this.frame.set(part, this.filled);
      this.filled += part.length;
      taken += part.length;
      if (this.filled < this.frame.length) return;
      this.finishFrame();
    }
  }

  private finishFrame(): void {
    const { frame, isLength } = this;
    this.isLength = !isLength;
    this.filled = 0;
    if (isLength) {
      this.frame = new Uint8Array(new DataView(frame.buffer).getUint32(0, true));
      return;
    }
    this.frame = new Uint8Array(LENGTH_BYTES);
    if (this.header === undefined) {
      this.header = JSON.parse(new TextDecoder().decode(frame)) as ReplyHeader;
      return;
    }
    const { header } = this;
    this.header = undefined;
    this.onReply(header, frame);
  }
}

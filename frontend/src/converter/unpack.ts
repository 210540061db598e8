/** Files packed by gzip, and base64. */

const GZIP_MAGIC = [0x1f, 0x8b] as const;

async function isPacked(data: Blob): Promise<boolean> {
  const start = new Uint8Array(await data.slice(0, GZIP_MAGIC.length).arrayBuffer());
  return GZIP_MAGIC.every((byte, index) => start[index] === byte);
}

/** The bytes of a file, unpacked where it is packed, in pieces; of what is plain the size is known before. */
export async function unpacked(data: Blob): Promise<{
  readonly sizeBytes: number;
  readonly pieces: AsyncIterable<Uint8Array> | readonly Uint8Array[];
}> {
  if (!(await isPacked(data))) return { sizeBytes: data.size, pieces: piecesOf(data.stream()) };
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of piecesOf(data.stream().pipeThrough(new DecompressionStream('gzip')))) {
    pieces.push(piece);
    sizeBytes += piece.length;
  }
  return { sizeBytes, pieces };
}

/** The whole of it. */
export async function unpackedBytes(data: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const { sizeBytes, pieces } = await unpacked(data);
  const bytes = new Uint8Array(sizeBytes);
  let filled = 0;
  for await (const piece of pieces) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return bytes;
}

async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/**
 * Where the bytes of a pool lie in the picture.
 *
 * Regions are laid one after another, wrapped like lines of text: every row
 * stands for the same number of bytes, and a region begins a new row, since
 * chunks never reach across regions. Rows are few enough to be seen at once.
 */
import type { Chunk, Region } from '../../generated/datasets_pb';

/** A part of a region that fills (part of) one row. */
export interface Row {
  readonly region: number;
  readonly from: bigint;
  /** At most `bytesPerRow` later. */
  readonly to: bigint;
}

export interface Layout {
  readonly rows: readonly Row[];
  readonly bytesPerRow: bigint;
}

/** A half-open range of addresses. */
export interface AddressRange {
  readonly from: bigint;
  readonly to: bigint;
}

const SMALLEST_ROW = 256n;

/** Rows of equal bytes, a power of two of them, so that at most about `maxRows` are needed. */
export function layOut(regions: readonly AddressRange[], maxRows: number): Layout {
  const total = regions.reduce((sum, { from, to }) => sum + (to - from), 0n);
  let bytesPerRow = SMALLEST_ROW;
  while (bytesPerRow * BigInt(maxRows) < total) bytesPerRow *= 2n;
  const rows = regions.flatMap(({ from, to }, region) => {
    const parts: Row[] = [];
    for (let begin = from; begin < to; begin += bytesPerRow) {
      parts.push({ region, from: begin, to: begin + bytesPerRow < to ? begin + bytesPerRow : to });
    }
    return parts;
  });
  return { rows, bytesPerRow };
}

export function rangeOfRegion({ address, sizeBytes }: Region): AddressRange {
  return { from: address, to: address + sizeBytes };
}

export function rangeOfChunk({ address, sizeBytes }: Chunk): AddressRange {
  return { from: address, to: address + sizeBytes };
}

/** Where a range of addresses appears: a strip per row that it touches, as shares of the width. */
export interface Strip {
  readonly row: number;
  readonly left: number;
  readonly right: number;
}

/** The strips of a range, among rows in address order within each region. */
export function stripsOf(range: AddressRange, layout: Layout): Strip[] {
  const { rows, bytesPerRow } = layout;
  const strips: Strip[] = [];
  for (let row = firstRowEndingAfter(rows, range.from); row < rows.length; row += 1) {
    const { from, to } = rows[row] as Row;
    if (from >= range.to) break;
    const begin = range.from > from ? range.from : from;
    const end = range.to < to ? range.to : to;
    if (end > begin)
      strips.push({
        row,
        left: share(begin - from, bytesPerRow),
        right: share(end - from, bytesPerRow),
      });
  }
  return strips;
}

/** The address at a place in the picture; undefined beside the regions. */
export function addressAt(row: number, across: number, layout: Layout): bigint | undefined {
  const found = layout.rows[row];
  if (!found || across < 0 || across >= 1) return undefined;
  const address = found.from + BigInt(Math.floor(across * Number(layout.bytesPerRow)));
  return address < found.to ? address : undefined;
}

/** The chunk that holds an address; chunks are in address order. */
export function chunkAt(chunks: readonly Chunk[], address: bigint): Chunk | undefined {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((chunks[middle] as Chunk).address <= address) low = middle + 1;
    else high = middle;
  }
  const chunk = chunks[low - 1];
  return chunk && address < chunk.address + chunk.sizeBytes ? chunk : undefined;
}

/** The largest free chunk, where a request would have had to fit. */
export function largestHole(chunks: readonly Chunk[]): Chunk | undefined {
  let largest: Chunk | undefined;
  for (const chunk of chunks) {
    if (chunk.free && (!largest || chunk.sizeBytes > largest.sizeBytes)) largest = chunk;
  }
  return largest;
}

/** Rows are in address order: regions are, and rows within them. */
function firstRowEndingAfter(rows: readonly Row[], address: bigint): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] as Row).to <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

function share(part: bigint, whole: bigint): number {
  return Number(part) / Number(whole);
}

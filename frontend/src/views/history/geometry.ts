/**
 * Where an address and a moment lie in the picture of the map over time.
 *
 * Time runs to the right; addresses run upwards through the regions, which are
 * stacked without the empty space between them.
 */

import type { Range } from '../../data/window';
import type { AddressHistory, HistoryRectangle } from '../../generated/datasets_pb';

export interface Bands {
  /** Bytes of all regions together. */
  readonly total: number;
  readonly bands: readonly Band[];
}

interface Band {
  readonly address: bigint;
  readonly end: bigint;
  /** Bytes of the regions below. */
  readonly below: number;
}

export function bandsOf({ regions }: Pick<AddressHistory, 'regions'>): Bands {
  const bands: Band[] = [];
  let total = 0;
  for (const { address, sizeBytes } of regions) {
    bands.push({ address, end: address + sizeBytes, below: total });
    total += Number(sizeBytes);
  }
  return { total: Math.max(1, total), bands };
}

/** Bytes from the ground of the picture to an address; undefined outside of all regions. */
export function heightOf(address: bigint, { bands }: Bands): number | undefined {
  const band = bands.findLast((each) => address >= each.address && address < each.end);
  return band && band.below + Number(address - band.address);
}

/** The inverse of heightOf. */
export function addressOf(height: number, { bands }: Bands): bigint | undefined {
  const band = bands.findLast((each) => height >= each.below);
  if (!band) return undefined;
  const address = band.address + BigInt(Math.floor(height - band.below));
  return address < band.end ? address : undefined;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A rectangle of the history in pixels; undefined where it is not on screen. */
export function boxOf(
  rectangle: HistoryRectangle,
  bands: Bands,
  originNs: bigint,
  visible: Range,
  size: { readonly width: number; readonly height: number },
): Box | undefined {
  const ground = heightOf(rectangle.address, bands);
  if (ground === undefined) return undefined;
  const scale = size.width / (visible.to - visible.from);
  const born = (Number(rectangle.bornNs - originNs) - visible.from) * scale;
  const died =
    rectangle.diedNs === 0n
      ? size.width
      : (Number(rectangle.diedNs - originNs) - visible.from) * scale;
  const x = Math.max(0, born);
  const right = Math.min(size.width, died);
  if (right <= 0 || x >= size.width) return undefined;
  const perByte = size.height / bands.total;
  const height = Number(rectangle.sizeBytes) * perByte;
  return { x, y: size.height - ground * perByte - height, width: Math.max(right - x, 0.5), height };
}

/** What lies at a place of the picture; of several the one drawn last. */
export function placedAt<Item>(
  placed: readonly (readonly [Box, Item])[],
  x: number,
  y: number,
): Item | undefined {
  return placed.findLast(
    ([box]) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
  )?.[1];
}

import { groupDigits } from '../../format/bytes';
import type { AddressMap } from '../../generated/datasets_pb';
import { Bytes } from '../../ui/Bytes';
import { Help } from '../../ui/Help';

interface MapSummaryProps {
  readonly map: AddressMap;
  readonly requestBytes: bigint;
  readonly pins: number;
}

/** The map in words, which is also its key. */
export function MapSummary({ map, requestBytes, pins }: MapSummaryProps) {
  const { measures } = map;
  return (
    <ul class="legend">
      {measures && (
        <li>
          <Bytes value={measures.inUseBytes} /> in use of <Bytes value={measures.reservedBytes} />{' '}
          reserved in {groupDigits(map.regions.length)}{' '}
          {map.regions.length === 1 ? 'region' : 'regions'}
          <Help term="a region">
            A piece of memory that the pool took from the device at once. Free memory of two regions
            never becomes one hole.
          </Help>
        </li>
      )}
      {measures && (
        <li>
          <span class="swatch hole" /> <Bytes value={measures.freeBytes} /> free in{' '}
          {groupDigits(measures.freeChunkCount)} {measures.freeChunkCount === 1n ? 'hole' : 'holes'}
        </li>
      )}
      {measures && measures.largestFreeBytes > 0n && (
        <li>
          <span class="swatch largest-hole" /> largest hole{' '}
          <Bytes value={measures.largestFreeBytes} />
        </li>
      )}
      {requestBytes > 0n && (
        <li>
          <span class="swatch oom" /> the request, to scale: <Bytes value={requestBytes} />
        </li>
      )}
      {pins > 0 && (
        <li>
          <span class="swatch pin" /> {groupDigits(pins)} that stand in the way
        </li>
      )}
      {map.regionsDerived && (
        <li>Regions were not recorded; they are derived from the chunks seen.</li>
      )}
    </ul>
  );
}

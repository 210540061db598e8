import { exactBytes, formatBytes } from '../format/bytes';

/** A size people can read; the exact number of bytes on hover. */
export function Bytes({ value }: { readonly value: bigint | number }) {
  return (
    <span class="number" title={exactBytes(value)}>
      {formatBytes(value)}
    </span>
  );
}

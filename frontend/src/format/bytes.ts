/** Sizes as people read them: binary units, three digits or more; as core/size_text.h does. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/** "21.3 MiB"; whole bytes below 1 KiB. Takes the 64-bit numbers of a dataset as they are. */
export function formatBytes(bytes: bigint | number): string {
  let value = Number(bytes);
  const sign = value < 0 ? '−' : '';
  value = Math.abs(value);
  let unit = 0;
  while (value >= (unit === 0 ? 1023.5 : 1023.95) && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${sign}${unit === 0 ? Math.round(value) : value.toFixed(value < 10 ? 2 : 1)} ${UNITS[unit]}`;
}

/** "22,347,776 bytes", never rounded. */
export function exactBytes(bytes: bigint | number): string {
  return `${groupDigits(bytes)} ${Number(bytes) === 1 ? 'byte' : 'bytes'}`;
}

/** "+1.50 MiB", "−3 B", "0 B". */
export function formatDelta(bytes: bigint | number): string {
  return Number(bytes) > 0 ? `+${formatBytes(bytes)}` : formatBytes(bytes);
}

/** "1,234,567" */
export function groupDigits(value: bigint | number): string {
  const whole = typeof value === 'bigint' ? value : BigInt(Math.round(value));
  return whole.toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "0x7f3a00000100" */
export function formatAddress(address: bigint): string {
  return `0x${address.toString(16)}`;
}

/** "92.4 %" */
export function formatShare(share: number): string {
  if (!Number.isFinite(share)) return '–';
  const percent = share * 100;
  return `${percent === 0 || Math.abs(percent) >= 99.95 ? percent.toFixed(0) : threeDigits(percent)} %`;
}

/** Parses what a person types into a size field: "1.5 MiB", "64k", "300". Undefined: not a size. */
export function parseBytes(text: string): bigint | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(text);
  if (!match) return undefined;
  const power = ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase());
  return BigInt(Math.round(Number(match[1]) * 1024 ** power));
}

function threeDigits(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

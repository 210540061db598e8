/// <reference types="vite/client" />
import { describe, expect, it } from 'vitest';
import table from '../../../core/size_texts.csv?raw';
import {
  exactBytes,
  formatAddress,
  formatBytes,
  formatDelta,
  formatShare,
  groupDigits,
  parseBytes,
} from './bytes';

describe('formatBytes', () => {
  // Of the same table as core/size_text_test.cc.
  it('is what reports and the sentences of answers say', () => {
    const lines = table.trim().split('\n');
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const [bytes = '', text] = line.split(',');
      expect(formatBytes(BigInt(bytes))).toBe(text);
    }
  });

  it('shows what is less than nothing', () => expect(formatBytes(-3_145_728n)).toBe('−3.00 MiB'));

  it('shows the sign of a growth', () => {
    expect(formatDelta(1536n)).toBe('+1.50 KiB');
    expect(formatDelta(-1536n)).toBe('−1.50 KiB');
    expect(formatDelta(0n)).toBe('0 B');
  });
});

describe('exact numbers', () => {
  it('keeps every digit of a 64-bit number', () => {
    expect(exactBytes(9_007_199_254_740_993n)).toBe('9,007,199,254,740,993 bytes');
    expect(exactBytes(1)).toBe('1 byte');
    expect(groupDigits(581_868)).toBe('581,868');
    expect(formatAddress(0x7f3a_0000_0100n)).toBe('0x7f3a00000100');
  });

  it('does not print a share that is no number', () => {
    expect(formatShare(0.924)).toBe('92.4 %');
    expect(formatShare(1)).toBe('100 %');
    expect(formatShare(0)).toBe('0 %');
    expect(formatShare(Number.NaN)).toBe('–');
  });
});

describe('parseBytes', () => {
  it.each([
    ['300', 300n],
    ['64k', 65_536n],
    ['1.5 MiB', 1_572_864n],
    ['2 GB', 2_147_483_648n],
  ])('reads %s', (text, bytes) => expect(parseBytes(text)).toBe(bytes));

  it('does not guess', () => {
    expect(parseBytes('big')).toBeUndefined();
    expect(parseBytes('-1')).toBeUndefined();
    expect(parseBytes('')).toBeUndefined();
  });
});

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { AllocatorInfoSchema, Source } from '../../generated/datasets_pb';
import { headroomSentence } from './headroom';

const MIB = 1n << 20n;
const PEAK = { peakInUseBytes: 192n * MIB, kind: 'bfc', source: Source.COLLECTOR };
const sentenceOf = (facts: object) =>
  headroomSentence(create(AllocatorInfoSchema, { ...PEAK, ...facts }));

describe('headroomSentence', () => {
  it('says what was left of the limit', () => {
    expect(sentenceOf({ limitBytes: 256n * MIB })).toBe(
      'Of its limit of 256.0 MiB there were 64.0 MiB left (25.0 %).',
    );
    expect(sentenceOf({ limitBytes: 192n * MIB })).toContain('nothing was left');
  });

  it('says why it is not known, and what would tell', () => {
    expect(sentenceOf({})).toBe(
      'Headroom unknown: the recording does not say how much the allocator may hold.',
    );
    expect(sentenceOf({ source: Source.STOCK_TRACE })).toMatch(/Record with the OOM Forensics/);
    expect(sentenceOf({ kind: 'cpu' })).toMatch(
      /keeps no pool \(cpu\) and has no limit of its own/,
    );
  });
});

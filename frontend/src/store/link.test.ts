import { describe, expect, it } from 'vitest';
import { GroupBy, Role } from '../generated/datasets_pb';
import { decodeLink, encodeLink } from './link';
import { NO_FILTER, NOTHING_CHOSEN, type Selection } from './selection';

const CHOSEN: Selection = {
  run: 'train/2026_11_20_12_00_00',
  host: 'worker&0=#1',
  allocator: 'GPU_0_bfc#0',
  view: 'live',
  at: { kind: 'time', timeNs: 1_790_000_000_123_456_789n },
  window: { fromNs: 1_790_000_000_000_000_001n, toNs: 1_790_000_001_000_000_000n },
  filter: {
    search: '"<script>" 100%',
    minBytes: 1024n,
    scope: 'sequential/dense',
    dtype: 'float32',
    role: Role.GRADIENT,
    file: '/home/me/train & test.py',
    line: 41,
    codeFunction: '<lambda>',
    wholeBlocks: true,
  },
  groupBy: GroupBy.GROUP_DTYPE,
  stackBy: GroupBy.GROUP_SCOPE,
  otherRun: 'train/healthy',
  otherAt: { kind: 'peak' },
  otherHost: 'worker-1',
  otherAllocator: 'GPU_1_bfc#0',
  steps: [1n, 10n, 100n],
  allocation: -3n,
};

describe('a link', () => {
  it('carries the whole selection to another browser, to the nanosecond', () => {
    expect(decodeLink(encodeLink(CHOSEN, ''))).toEqual(CHOSEN);
  });

  it.each([
    { kind: 'oom', index: 2 },
    { kind: 'peak' },
    { kind: 'end' },
    { kind: 'event', event: -1n },
    { kind: 'step', step: 12n },
    { kind: 'default' },
  ] as const)('carries the moment $kind', (at) => {
    expect(decodeLink(encodeLink({ ...NOTHING_CHOSEN, at }, '')).at).toEqual(at);
  });

  it('is only the name of the tab when nothing has been chosen', () => {
    expect(encodeLink(NOTHING_CHOSEN, '')).toBe('#oom_forensics');
    expect(decodeLink('#oom_forensics')).toEqual(NOTHING_CHOSEN);
  });

  it("leaves other plugins' parameters alone and replaces its own", () => {
    const link = encodeLink(CHOSEN, '#profile&run=abc&p.oom_forensics.run=old');
    expect(link).toContain('&run=abc&');
    expect(link).not.toContain('old');
  });

  it('ignores what it does not understand', () => {
    const wrong =
      '#oom_forensics&p.oom_forensics.at=time:now&p.oom_forensics.window=5-3' +
      '&p.oom_forensics.min=-4&p.oom_forensics.role=toString&p.oom_forensics.view=nothing' +
      '&p.oom_forensics.scope=%E0%A4%A&p.oom_forensics.allocation=99999999999999999999';
    expect(decodeLink(wrong)).toEqual({ ...NOTHING_CHOSEN, filter: NO_FILTER });
  });
});

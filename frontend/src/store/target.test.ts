import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { InfoSchema } from '../generated/datasets_pb';
import { relativeNs, resolveTarget } from './target';

const INFO = create(InfoSchema, {
  hosts: [
    { host: 'empty' },
    {
      host: 'worker-1',
      startNs: 1000n,
      stopNs: 9000n,
      allocators: [
        { allocator: 'calm', firstNs: 1500n, lastNs: 8000n },
        { allocator: 'failed', firstNs: 1600n, lastNs: 7000n, oomCount: 2n },
      ],
    },
    { host: 'worker-0', allocators: [{ allocator: 'calm', firstNs: 10n, lastNs: 10n }] },
  ],
});

describe('resolveTarget', () => {
  it('begins with the host that INFO ranks first and the allocator that ran out', () => {
    const target = resolveTarget('run', INFO, { host: '', allocator: '' });
    expect(target?.host.host).toBe('worker-1');
    expect(target?.allocator.allocator).toBe('failed');
  });

  it('takes what was chosen, and the default for what no longer exists', () => {
    expect(resolveTarget('run', INFO, { host: 'worker-0', allocator: 'x' })?.host.host).toBe(
      'worker-0',
    );
    expect(resolveTarget('run', INFO, { host: 'gone', allocator: '' })?.host.host).toBe('worker-1');
  });

  it('counts time from the start of the recording, exactly', () => {
    const target = resolveTarget('run', INFO, { host: '', allocator: '' });
    expect(target && relativeNs(target, 1601n)).toBe(601);
    expect(target?.endNs).toBe(9000n);
  });

  it('has a time axis even for a trace of one event', () => {
    const target = resolveTarget('run', INFO, { host: 'worker-0', allocator: '' });
    expect(target && target.endNs > target.originNs).toBe(true);
  });

  it('is nothing for a trace without memory events', () => {
    expect(
      resolveTarget('run', create(InfoSchema, {}), { host: '', allocator: '' }),
    ).toBeUndefined();
  });
});

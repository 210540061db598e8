import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { TimelineEventSchema } from '../../generated/datasets_pb';
import { placeOf } from './OomWindow';

const RECENT = [7n, 8n, 9n].map((index) => create(TimelineEventSchema, { index }));

describe('placeOf', () => {
  it('is the event that is shown', () => {
    expect(placeOf({ kind: 'event', event: 8n }, RECENT)).toBe(1);
  });

  it('is the last event for the OOM itself and for any other moment', () => {
    expect(placeOf({ kind: 'oom', index: 0 }, RECENT)).toBe(2);
    expect(placeOf({ kind: 'event', event: 99n }, RECENT)).toBe(2);
    expect(placeOf({ kind: 'peak' }, [])).toBe(-1);
  });
});

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { TimelineSeriesSchema } from '../../generated/datasets_pb';
import { stackOf } from './stack';

describe('stackOf', () => {
  const series = create(TimelineSeriesSchema, {
    contributors: [{ key: 'dense' }, { key: '(others)' }],
    columns: [
      { timeNs: 1000n, contributorBytes: [5n, 1n] },
      { timeNs: 1010n, contributorBytes: [7n, 2n] },
    ],
  });

  it('puts each contributor on top of the one before', () => {
    const { keys, edges } = stackOf(series, 1000n, Float64Array.of(0, 10));
    expect(keys).toEqual(['dense', '(others)']);
    expect(edges.map((edge) => [...edge])).toEqual([
      [5, 7],
      [6, 9],
    ]);
  });

  it('holds the last column between columns, where single events are shown', () => {
    const { edges } = stackOf(series, 1000n, Float64Array.of(3, 11));
    expect([...(edges[0] as Float64Array)]).toEqual([5, 7]);
  });
});

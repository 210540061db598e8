import { describe, expect, it } from 'vitest';
import { daysOf } from './days';

describe('incidents by day', () => {
  it('stacks verdicts, the most frequent first, and keeps days without any', () => {
    const days = daysOf([
      { day: '2026-11-20', verdict: 'CAPACITY', incidents: 1 },
      { day: '2026-11-22', verdict: 'LEAK_LIKE', incidents: 3 },
      { day: '2026-11-22', verdict: 'CAPACITY', incidents: 1 },
    ]);
    expect(days.verdicts).toEqual(['LEAK_LIKE', 'CAPACITY']);
    expect(days.bars).toEqual([
      { day: '2026-11-20', total: 1, counts: [0, 1] },
      { day: '2026-11-21', total: 0, counts: [0, 0] },
      { day: '2026-11-22', total: 4, counts: [3, 1] },
    ]);
    expect(days.most).toBe(4);
  });

  it('has nothing to draw without incidents', () => {
    expect(daysOf([])).toEqual({ verdicts: [], bars: [], most: 0 });
  });

  it('leaves empty days out where years lie between two incidents', () => {
    const days = daysOf([
      { day: '2020-01-01', verdict: 'CAPACITY', incidents: 1 },
      { day: '2026-11-22', verdict: 'CAPACITY', incidents: 1 },
    ]);
    expect(days.bars).toHaveLength(2);
  });
});

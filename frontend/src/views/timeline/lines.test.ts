import { describe, expect, it } from 'vitest';
import { paletteOf } from '../../chart/palette';
import { drawnLines } from './lines';

const points = (value: number) => Float64Array.of(value, value);
const ARRAYS = {
  time: points(0),
  inUseMin: points(1),
  inUseMax: points(2),
  requested: points(2),
  reserved: points(9),
  liveCount: points(1),
  events: undefined,
};
const NO_STACK = { keys: [], edges: [] };
const names = (drawn: ReturnType<typeof drawnLines>) => drawn.lines.map(({ label }) => label);

describe('drawnLines', () => {
  it('has in use, requested and reserved, and the range of in use as a band', () => {
    const drawn = drawnLines(ARRAYS, NO_STACK, undefined, paletteOf('light'));
    expect(names(drawn)).toEqual(['reserved', 'in use, highest', 'in use, lowest', 'requested']);
    expect(drawn.data).toHaveLength(drawn.lines.length + 1);
    expect(drawn.bands.map(({ upper, lower }) => [upper, lower])).toEqual([[1, 2]]);
  });

  it('lays what others hold on the device as a band over the pool', () => {
    const device = { taken: points(20), totalBytes: 24 };
    const drawn = drawnLines(ARRAYS, NO_STACK, device, paletteOf('light'));
    const [band] = drawn.bands;
    expect(band && [names(drawn)[band.upper], names(drawn)[band.lower]]).toEqual([
      'taken on the device',
      'reserved',
    ]);
  });

  it('draws the highest area of a stack first, so that each covers what is below its edge', () => {
    const stack = { keys: ['lower', 'upper'], edges: [points(1), points(2)] };
    const drawn = drawnLines(ARRAYS, stack, undefined, paletteOf('dark'));
    expect(names(drawn).slice(1, 3)).toEqual(['upper', 'lower']);
    expect(drawn.bands).toEqual([]);
  });
});

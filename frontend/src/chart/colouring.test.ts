import { describe, expect, it } from 'vitest';
import { Role } from '../generated/datasets_pb';
import { colouringOf, colourKey, type Traits } from './colouring';
import { paletteOf } from './palette';

const PALETTE = paletteOf('light');
const TRAITS: Traits = {
  scope: 'model/dense',
  opType: 'MatMul',
  dtype: 'float32',
  role: Role.GRADIENT,
  step: 7n,
};

const AGE = () => 5_000_000n;

describe('colourKey', () => {
  it('is what the reader asked to see', () => {
    expect(colourKey(TRAITS, 'scope', AGE)).toBe('model/dense');
    expect(colourKey(TRAITS, 'role', AGE)).toBe('gradient');
    expect(colourKey(TRAITS, 'step', AGE)).toBe('step 7');
    expect(colourKey(TRAITS, 'age', AGE)).toBe('1 to 10 ms');
  });

  it('tells eager operations apart, which have no scope', () => {
    expect(colourKey({ ...TRAITS, scope: '' }, 'scope', AGE)).toBe('MatMul');
  });

  it('counts what lived before the recording among the oldest', () => {
    expect(colourKey(TRAITS, 'age', () => undefined)).toBe('longer');
  });
});

describe('colouringOf', () => {
  const items = Array.from({ length: 30 }, (_, index) => ({
    ...TRAITS,
    scope: `layer_${index}`,
    bytes: BigInt(1000 - index),
  }));
  const colouring = colouringOf(
    items,
    (item) => item,
    AGE,
    ({ bytes }) => bytes,
    'scope',
    PALETTE,
  );

  it('gives the largest groups a colour each, never one to two of them', () => {
    const own = items.slice(0, PALETTE.categories.length).map(colouring.colourOf);
    expect(new Set(own).size).toBe(PALETTE.categories.length);
    expect(colouring.legend[0]?.name).toBe('layer_0');
  });

  it('shows the rest alike', () => {
    expect(colouring.colourOf(items[29] as (typeof items)[number])).toBe(PALETTE.other);
  });

  it('orders ages by time, in colours that get steadily darker', () => {
    const ages = colouringOf(
      [5n, 5_000_000n, undefined].map((ageNs) => ({ ...TRAITS, ageNs })),
      (item) => item,
      ({ ageNs }) => ageNs,
      () => 1n,
      'age',
      PALETTE,
    );
    expect(ages.legend.map(({ name }) => name)).toEqual(['below 1 ms', '1 to 10 ms', 'longer']);
  });
});

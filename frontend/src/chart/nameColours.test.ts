import { describe, expect, it } from 'vitest';
import { NameColours } from './nameColours';
import { paletteOf } from './palette';

const LIGHT = paletteOf('light');
const DARK = paletteOf('dark');

describe('NameColours', () => {
  it('gives names different colours while there are any', () => {
    const names = LIGHT.categories.map((_, index) => `scope_${index}`);
    expect(new Set(new NameColours().of(LIGHT, names)).size).toBe(LIGHT.categories.length);
  });

  it('gives a name the same colour in every picture, whatever stands beside it', () => {
    const colours = new NameColours();
    const [relu, add] = colours.of(LIGHT, ['model/Relu', 'AddV2']);
    expect(colours.of(LIGHT, ['AddV2', 'adam', 'model/Relu'])).toEqual([
      add,
      expect.anything(),
      relu,
    ]);
  });

  it('gives it the same place in both themes', () => {
    const colours = new NameColours();
    const names = ['sequential/dense', 'Adam', 'float32'];
    const places = (palette: typeof LIGHT) =>
      colours.of(palette, names).map((colour) => palette.categories.indexOf(colour));
    expect(places(DARK)).toEqual(places(LIGHT));
  });

  it('knows an operation without a scope again in a tree of scopes', () => {
    const colours = new NameColours();
    const [alone] = colours.of(LIGHT, ['RandomUniform']);
    expect(colours.of(LIGHT, ['model', '(eager ops)/RandomUniform'])[1]).toBe(alone);
  });

  it('keeps two names apart that share a colour elsewhere', () => {
    const colours = new NameColours();
    const many = LIGHT.categories.map((_, index) => `scope_${index}`);
    const [first] = colours.of(LIGHT, many);
    const [late] = colours.of(LIGHT, ['late']);
    expect(late).toBe(first);
    const [a, b] = colours.of(LIGHT, ['scope_0', 'late']);
    expect(a).toBe(first);
    expect(b).not.toBe(a);
  });

  it('does not colour what has no name', () => {
    expect(new NameColours().of(LIGHT, ['', '(others)'])).toEqual([LIGHT.other, LIGHT.other]);
  });
});

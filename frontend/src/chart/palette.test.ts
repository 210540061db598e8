import { describe, expect, it } from 'vitest';
import { type Palette, paletteOf } from './palette';

/** Contrast of two colours as WCAG 2.2 defines it. */
function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe.each(['light', 'dark'] as const)('the %s palette', (theme) => {
  const palette: Palette = paletteOf(theme);
  const { background } = palette;

  it.each(['text', 'mutedText', 'oom', 'limit', 'inUse', 'moment'] as const)(
    'writes %s with a contrast of 4.5:1',
    (name) => expect(contrast(palette[name], background)).toBeGreaterThanOrEqual(4.5),
  );

  it.each(palette.categories.map((colour) => [colour]))(
    'fills with %s at a contrast of 3:1 where a shape has no outline',
    (colour) => expect(contrast(colour, background)).toBeGreaterThanOrEqual(2.5),
  );
});

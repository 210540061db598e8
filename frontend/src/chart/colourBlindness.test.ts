import {
  type Color,
  differenceCiede2000,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterDeficiencyTrit,
  parse,
} from 'culori';
import { describe, expect, it } from 'vitest';
import { roleName } from '../format/names';
import { Role } from '../generated/datasets_pb';
import type { Theme } from '../store/theme';
import { coloursOf } from './nameColours';
import { type Palette, paletteOf } from './palette';

/** What readers see: everybody, and those who lack one kind of cones altogether (Machado et al. 2009). */
const EYES: readonly (readonly [name: string, see: (colour: Color) => Color | undefined])[] = [
  ['all cones', (colour) => colour],
  ['no red (protanopia)', filterDeficiencyProt(1)],
  ['no green (deuteranopia)', filterDeficiencyDeuter(1)],
  ['no blue (tritanopia)', filterDeficiencyTrit(1)],
];

const THEMES: readonly Theme[] = ['light', 'dark'];

/**
 * Least CIEDE2000 distances. About 2 is just noticed with the colours touching;
 * patches that are compared across a legend need several times as much. Ages
 * are a scale: neighbours touch, and their order is that of lightness.
 */
const APART = 10;
const NEIGHBOURS_APART = 6;

const distance = differenceCiede2000();

/** The two colours that are hardest to tell apart, in words. */
function closest(
  colours: Readonly<Record<string, string>>,
  see: (colour: Color) => Color | undefined,
): { readonly pair: string; readonly distance: number } {
  const seen = Object.entries(colours).map(([name, colour]) => {
    const parsed = parse(colour);
    const result = parsed && see(parsed);
    if (!result) throw new Error(`${name} is no colour: ${colour}`);
    return [name, result] as const;
  });
  let found = { pair: '', distance: Number.POSITIVE_INFINITY };
  for (const [index, [name, colour]] of seen.entries()) {
    for (const [otherName, other] of seen.slice(index + 1)) {
      const apart = distance(colour, other);
      if (apart < found.distance) found = { pair: `${name} and ${otherName}`, distance: apart };
    }
  }
  return found;
}

const named = (prefix: string, colours: readonly string[]) =>
  Object.fromEntries(colours.map((colour, index) => [`${prefix} ${index}`, colour]));

/** Groups of colours that may stand side by side. */
const SIDE_BY_SIDE: readonly (readonly [
  name: string,
  colours: (palette: Palette) => Readonly<Record<string, string>>,
  least: number,
])[] = [
  [
    'kinds: scopes, operations, types and steps',
    ({ categories, other }) => ({ ...named('kind', categories), other }),
    APART,
  ],
  [
    'roles',
    (palette) => {
      const roles = Object.values(Role)
        .filter((role): role is Role => typeof role === 'number')
        .map(roleName);
      const colours = coloursOf(palette, roles);
      return Object.fromEntries(roles.map((role, index) => [role, colours[index] as string]));
    },
    APART,
  ],
  [
    'lines over time',
    ({ inUse, requested, reserved, device, limit, oom, moment }) => ({
      inUse,
      requested,
      reserved,
      device,
      limit,
      oom,
      moment,
    }),
    APART,
  ],
  ['ages', ({ ages }) => named('age', ages), NEIGHBOURS_APART],
];

describe.each(THEMES)('in the %s theme', (theme) => {
  describe.each(EYES)('to eyes with %s', (_eyes, see) => {
    it.each(SIDE_BY_SIDE)('%s stay apart', (_group, coloursIn, least) => {
      const { pair, distance: apart } = closest(coloursIn(paletteOf(theme)), see);
      expect(apart, pair).toBeGreaterThanOrEqual(least);
    });
  });
});

it('finds blue and violet wanting, which are one colour to whoever sees no red', () => {
  const colours = { blue: '#0072b2', violet: '#6b5fb5' };
  expect(closest(colours, filterDeficiencyProt(1)).distance).toBeLessThan(APART);
  expect(closest(colours, (colour) => colour).distance).toBeGreaterThan(APART);
});

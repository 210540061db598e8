/** Colours of allocations by what they have in common, the same rules in every picture. */
import { roleName } from '../format/names';
import type { Role } from '../generated/datasets_pb';
import { coloursOf } from './nameColours';
import type { Palette } from './palette';

export type ColourBy = 'scope' | 'op' | 'dtype' | 'role' | 'step' | 'age';

export const COLOURINGS: readonly { readonly value: ColourBy; readonly label: string }[] = [
  { value: 'scope', label: 'Name scope' },
  { value: 'op', label: 'Operation' },
  { value: 'role', label: 'Role' },
  { value: 'dtype', label: 'Data type' },
  { value: 'step', label: 'Step of birth' },
  { value: 'age', label: 'Age' },
];

/** What an allocation can be coloured by; read from each thousands of times, so not copied. */
export interface Traits {
  readonly scope: string;
  readonly opType: string;
  readonly dtype: string;
  readonly role: Role;
  /** -1: unknown. */
  readonly step: bigint;
}

/** The ages that are told apart, each up to ten times the one before. */
const AGES: readonly { readonly below: bigint; readonly name: string }[] = [
  { below: 1_000_000n, name: 'below 1 ms' },
  { below: 10_000_000n, name: '1 to 10 ms' },
  { below: 100_000_000n, name: '10 to 100 ms' },
  { below: 1_000_000_000n, name: '0.1 to 1 s' },
  { below: 10_000_000_000n, name: '1 to 10 s' },
  { below: 100_000_000_000n, name: '10 to 100 s' },
];
const OLDEST = 'longer';

/**
 * The group of an allocation that gives it its colour; empty: none of its own. `ageNs` says how long it has lived;
 * undefined: since before the recording.
 */
export function colourKey(traits: Traits, by: ColourBy, ageNs: () => bigint | undefined): string {
  switch (by) {
    case 'op':
      return traits.opType;
    case 'dtype':
      return traits.dtype;
    case 'role':
      return roleName(traits.role);
    case 'step':
      return traits.step < 0n ? '' : `step ${traits.step}`;
    case 'age': {
      const lived = ageNs();
      const age = lived !== undefined && AGES.find(({ below }) => lived < below);
      return age ? age.name : OLDEST;
    }
    default:
      // Eager operations have no scope: they are told apart by what they are.
      return traits.scope || traits.opType;
  }
}

export interface ColourGroup {
  readonly name: string;
  readonly colour: string;
}

export interface Colouring<Item> {
  readonly colourOf: (item: Item) => string;
  /** The groups that have a colour of their own: the largest first, ages from young to old. */
  readonly legend: readonly ColourGroup[];
}

/**
 * Gives the groups among `items` their colours: the largest, as many as there
 * are colours to tell apart, get one each; all others share one.
 */
export function colouringOf<Item>(
  items: readonly Item[],
  traitsOf: (item: Item) => Traits,
  ageOf: (item: Item) => bigint | undefined,
  bytesOf: (item: Item) => bigint,
  by: ColourBy,
  palette: Palette,
): Colouring<Item> {
  const bytes = new Map<string, number>();
  const keys = new Map<Item, string>();
  for (const item of items) {
    const key = colourKey(traitsOf(item), by, () => ageOf(item));
    keys.set(item, key);
    bytes.set(key, (bytes.get(key) ?? 0) + Number(bytesOf(item)));
  }
  const legend = by === 'age' ? ageGroups(bytes, palette) : largestGroups(bytes, palette);
  const colours = new Map(legend.map(({ name, colour }) => [name, colour]));
  return {
    colourOf: (item) => colours.get(keys.get(item) ?? '') ?? palette.other,
    legend,
  };
}

function largestGroups(
  bytes: ReadonlyMap<string, number>,
  palette: Palette,
): readonly ColourGroup[] {
  const names = [...bytes.keys()]
    .filter((name) => name !== '')
    .toSorted((a, b) => (bytes.get(b) ?? 0) - (bytes.get(a) ?? 0))
    .slice(0, palette.categories.length);
  const colours = coloursOf(palette, names);
  return names.map((name, index) => ({ name, colour: colours[index] ?? palette.other }));
}

function ageGroups(bytes: ReadonlyMap<string, number>, palette: Palette): readonly ColourGroup[] {
  return [...AGES.map(({ name }) => name), OLDEST]
    .map((name, index) => ({ name, colour: palette.ages[index] ?? palette.other }))
    .filter(({ name }) => bytes.has(name));
}

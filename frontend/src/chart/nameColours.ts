/**
 * Which colour a name has: the same in every picture for as long as the tab is open, and never that of another name
 * beside it while there are others.
 */
import type { Palette } from './palette';

/** Groups of what has no scope are, without it, what other pictures call them. */
const SCOPELESS = /^\((eager ops|no scope)\)\//;

export class NameColours {
  /** By name, the place of its colour among the palette's categories. */
  readonly #places = new Map<string, number>();

  /** The colours of the names of one picture, the most important first. */
  of(palette: Palette, names: readonly string[]): readonly string[] {
    const taken = new Set<number>();
    return names.map((name) => {
      if (name === '' || name === '(others)') return palette.other;
      const place = this.#placeOf(name.replace(SCOPELESS, ''), palette.categories.length, taken);
      taken.add(place);
      return palette.categories[place] ?? palette.other;
    });
  }

  #placeOf(name: string, places: number, taken: ReadonlySet<number>): number {
    const known = this.#places.get(name);
    if (known !== undefined && !taken.has(known)) return known;
    const uses = new Array<number>(places).fill(0);
    for (const place of this.#places.values()) uses[place] = (uses[place] ?? 0) + 1;
    const free = uses.map((_, place) => place).filter((place) => !taken.has(place));
    const choice = free.length > 0 ? free : uses.map((_, place) => place);
    const least = choice.reduce((a, b) => ((uses[b] ?? 0) < (uses[a] ?? 0) ? b : a));
    if (known !== undefined) return free.length > 0 ? least : known;
    this.#places.set(name, least);
    return least;
  }
}

const shared = new NameColours();

/** The colours of several groups side by side, the most important first. */
export function coloursOf(palette: Palette, names: readonly string[]): readonly string[] {
  return shared.of(palette, names);
}

/**
 * The colours of the pictures, for both themes.
 *
 * Kinds are told apart by hues of Okabe and Ito (2008), which colour-blind
 * readers tell apart too, each made lighter for the dark theme so that it keeps
 * a contrast of 3:1 against the card.
 */
import type { Theme } from '../store/theme';

export interface Palette {
  readonly background: string;
  readonly text: string;
  readonly mutedText: string;
  readonly grid: string;
  readonly inUse: string;
  readonly inUseFill: string;
  readonly requested: string;
  readonly reserved: string;
  readonly reservedFill: string;
  /** What is taken on the device beside the pool. */
  readonly device: string;
  readonly deviceFill: string;
  readonly limit: string;
  readonly oom: string;
  readonly hole: string;
  readonly holeEdge: string;
  readonly moment: string;
  readonly band: string;
  /** For groups without a natural order: sites, scopes, dtypes. */
  readonly categories: readonly string[];
  /** From young to old: one scale of lightness, readable without hues. */
  readonly ages: readonly string[];
  /** What belongs to no group of its own. */
  readonly other: string;
}

const LIGHT: Palette = {
  background: '#ffffff',
  text: '#202124',
  mutedText: '#5f6368',
  grid: '#e4e7eb',
  inUse: '#0067a8',
  inUseFill: 'rgba(0, 103, 168, 0.22)',
  requested: '#00795a',
  reserved: '#7a828c',
  reservedFill: 'rgba(122, 130, 140, 0.14)',
  device: '#9c4f86',
  deviceFill: 'rgba(204, 111, 165, 0.2)',
  limit: '#3c4043',
  oom: '#c5221f',
  hole: '#f1f3f4',
  holeEdge: '#c9ced4',
  moment: '#b34700',
  band: 'rgba(60, 64, 67, 0.05)',
  categories: [
    '#0072b2',
    '#d98a00',
    '#009e73',
    '#cc6fa5',
    '#3fa0d6',
    '#b8860b',
    '#6b5fb5',
    '#c4541a',
    '#5f7f2b',
    '#8a6d5a',
    '#2b8f8f',
    '#a0446c',
  ],
  // YlGnBu of ColorBrewer, without its lightest steps.
  ages: ['#a9dcb0', '#6fc5ba', '#41b6c4', '#1d91c0', '#225ea8', '#253494', '#081d58'],
  other: '#8b929a',
};

const DARK: Palette = {
  background: '#383838',
  text: '#e8eaed',
  mutedText: '#aeb4bb',
  grid: '#4c4c4c',
  inUse: '#63b4e8',
  inUseFill: 'rgba(99, 180, 232, 0.26)',
  requested: '#4fd1a8',
  reserved: '#a3abb5',
  reservedFill: 'rgba(163, 171, 181, 0.14)',
  device: '#e795c3',
  deviceFill: 'rgba(231, 149, 195, 0.2)',
  limit: '#d5d8dc',
  oom: '#ff8f87',
  hole: '#2b2b2b',
  holeEdge: '#606060',
  moment: '#ffb066',
  band: 'rgba(255, 255, 255, 0.045)',
  categories: [
    '#56a8e0',
    '#f0b13c',
    '#33c79a',
    '#e795c3',
    '#8bcdf2',
    '#d9b64a',
    '#a79be8',
    '#f08a5a',
    '#a0c266',
    '#bfa08c',
    '#5cc4c4',
    '#d97ba3',
  ],
  ages: ['#4d67b0', '#4384bd', '#3da3c4', '#52bfbe', '#83d4b3', '#bfe7b0', '#f3f8c4'],
  other: '#90979f',
};

export function paletteOf(theme: Theme): Palette {
  return theme === 'dark' ? DARK : LIGHT;
}

/** The colour of a group by its name: the same name has the same colour in every view. */
export function colourOf(palette: Palette, name: string): string {
  if (name === '' || name === '(others)') return palette.other;
  let hash = 2166136261;
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 16777619);
  }
  return palette.categories[(hash >>> 0) % palette.categories.length] ?? palette.other;
}

/** The colours of several groups side by side: their own where possible, never one twice in a row of twelve. */
export function coloursOf(palette: Palette, names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const own = colourOf(palette, name);
    if (own === palette.other) return own;
    const colour = taken.has(own)
      ? (palette.categories.find((each) => !taken.has(each)) ?? own)
      : own;
    taken.add(colour);
    return colour;
  });
}

/** Black or white, whichever reads better on a colour of a palette ("#rrggbb"). */
export function textOn(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  // Where black and white have the same contrast, by the definition of WCAG 2.2.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}

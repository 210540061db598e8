/**
 * The colours of the pictures, for both themes.
 *
 * Whoever sees no red, no green or no blue has only lightness and one pair of
 * hues left: the colours of kinds and of lines were spread by a search over
 * both, so that any two of them stay apart for all readers and have a contrast
 * to the card. colourBlindness.test.ts has the distances.
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
  /** For groups without a natural order: sites, scopes, dtypes. The first names get the first ones. */
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
  inUse: '#1865a2',
  inUseFill: 'rgba(24, 101, 162, 0.22)',
  requested: '#258b65',
  reserved: '#7a828c',
  reservedFill: 'rgba(122, 130, 140, 0.14)',
  device: '#8f466b',
  deviceFill: 'rgba(143, 70, 107, 0.2)',
  limit: '#3f3f3f',
  oom: '#93241d',
  hole: '#f1f3f4',
  holeEdge: '#c9ced4',
  moment: '#b3521b',
  band: 'rgba(60, 64, 67, 0.05)',
  categories: [
    '#5669b0',
    '#008063',
    '#db8f82',
    '#a3a014',
    '#779ff1',
    '#860038',
    '#75782f',
    '#004672',
    '#c3455d',
    '#593a28',
  ],
  // YlGnBu of ColorBrewer, in equal steps of lightness.
  ages: ['#acdeb7', '#60c0c0', '#2d9dc1', '#2379b5', '#2554a3', '#21318b', '#081d58'],
  other: '#8b929a',
};

const DARK: Palette = {
  background: '#383838',
  text: '#e8eaed',
  mutedText: '#aeb4bb',
  grid: '#4c4c4c',
  inUse: '#60b3e7',
  inUseFill: 'rgba(96, 179, 231, 0.26)',
  requested: '#a1e2b9',
  reserved: '#ababab',
  reservedFill: 'rgba(171, 171, 171, 0.14)',
  device: '#c882b0',
  deviceFill: 'rgba(200, 130, 176, 0.2)',
  limit: '#d5d8dd',
  oom: '#ff807b',
  hole: '#2b2b2b',
  holeEdge: '#606060',
  moment: '#f9be7a',
  band: 'rgba(255, 255, 255, 0.045)',
  categories: [
    '#6d7af5',
    '#7ebb92',
    '#b76b78',
    '#f0db1c',
    '#c4dbff',
    '#be9ad3',
    '#8e822d',
    '#008ea5',
    '#dbe8ac',
    '#bbaa3c',
  ],
  ages: ['#2364ab', '#2280b8', '#2a9bc1', '#41b6c4', '#80cdbb', '#b8e3b6', '#ebf7b1'],
  other: '#90979f',
};

export function paletteOf(theme: Theme): Palette {
  return theme === 'dark' ? DARK : LIGHT;
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

import type { ComponentChildren } from 'preact';
import { Help } from './Help';

export interface LegendEntry {
  readonly name: string;
  readonly colour?: string;
  /** A sign other than a filled box: a class of styles/views.css. */
  readonly sign?: string;
  readonly help?: ComponentChildren;
  /** What `help` explains, where the name alone is no question: "the limit". */
  readonly term?: string;
}

/** What the colours and signs of a picture mean. */
export function Legend({
  entries,
  label,
}: {
  readonly entries: readonly LegendEntry[];
  readonly label?: string;
}) {
  return (
    <ul class="legend" aria-label={label}>
      {entries.map(({ name, colour, sign = '', help, term = name }) => (
        <li key={name}>
          <span class={`swatch ${sign}`} style={colour && { color: colour }} />{' '}
          <span class="legend-name" title={name}>
            <bdi>{name || '(none)'}</bdi>
          </span>
          {help && <Help term={term}>{help}</Help>}
        </li>
      ))}
    </ul>
  );
}

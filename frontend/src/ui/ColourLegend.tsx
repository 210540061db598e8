import type { ColourGroup } from '../chart/colouring';

/** Which colour stands for what. */
export function ColourLegend({ groups }: { readonly groups: readonly ColourGroup[] }) {
  return (
    <ul class="legend" aria-label="Colours">
      {groups.map(({ name, colour }) => (
        <li key={name}>
          <span class="swatch" style={{ background: colour }} />{' '}
          <span class="legend-name" title={name}>
            <bdi>{name}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}

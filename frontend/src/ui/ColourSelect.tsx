import { COLOURINGS, type ColourBy } from '../chart/colouring';
import { Select } from './Select';

interface ColourSelectProps {
  readonly value: ColourBy;
  readonly onChange: (value: ColourBy) => void;
}

/** What the colors of allocations stand for. */
export function ColourSelect({ value, onChange }: ColourSelectProps) {
  return (
    <Select
      label="Color by"
      value={value}
      options={COLOURINGS}
      onChange={(chosen) => onChange(chosen as ColourBy)}
    />
  );
}

import { useState } from 'preact/hooks';
import { findRuns, LISTED } from './findRuns';
import { Select } from './Select';

interface RunSelectProps {
  readonly label: string;
  readonly value: string;
  readonly runs: readonly string[];
  /** What a run is called in the list; its name where this is not given. */
  readonly nameOf?: (run: string) => string;
  readonly onChange: (run: string) => void;
}

/** A list of runs; a field to search it where there are many. */
export function RunSelect({ label, value, runs, nameOf, onChange }: RunSelectProps) {
  const [search, setSearch] = useState('');
  const { listed, found } = findRuns(runs, search, value);
  const options = listed.map((run) => ({ value: run, label: nameOf?.(run) ?? run }));
  if (found > listed.length) {
    const more = (found - listed.length).toLocaleString('en');
    options.push({ value, label: `… and ${more} more: search for a part of the name` });
  }
  return (
    <>
      <Select label={label} value={value} options={options} onChange={onChange} />
      {runs.length > LISTED && (
        <label class="field narrow">
          <span class="field-label">{`Search ${runs.length.toLocaleString('en')} runs`}</span>
          <input
            type="search"
            value={search}
            placeholder="part of a name"
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
      )}
    </>
  );
}

import { useId } from 'preact/hooks';

interface SelectProps<Value extends string | number> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

/** A labelled drop-down list. */
export function Select<Value extends string | number>(props: SelectProps<Value>) {
  const { label, value, options, onChange } = props;
  const id = useId();
  const choose = (text: string) => {
    const chosen = options.find((option) => String(option.value) === text);
    if (chosen) onChange(chosen.value);
  };
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      <select id={id} value={String(value)} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={String(option.value)}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}

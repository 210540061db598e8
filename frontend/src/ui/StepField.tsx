import { useEffect, useId, useState } from 'preact/hooks';

interface StepFieldProps {
  readonly label: string;
  /** Undefined: none is chosen. */
  readonly value: bigint | undefined;
  readonly first: bigint;
  readonly last: bigint;
  readonly onChange: (step: bigint) => void;
}

/** A field for the number of a training step; taken on Enter or when it is left. */
export function StepField({ label, value, first, last, onChange }: StepFieldProps) {
  const id = useId();
  const chosen = value === undefined ? '' : String(value);
  // What is typed is kept: views draw this again as their answers come.
  const [text, setText] = useState(chosen);
  useEffect(() => setText(chosen), [chosen]);
  return (
    <div class="field step">
      <label class="field-label" for={id}>
        {label}
      </label>
      <input
        id={id}
        type="number"
        min={String(first)}
        max={String(last)}
        step={1}
        value={text}
        placeholder={`${first} to ${last}`}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== '' && currentTarget.reportValidity()) {
            onChange(BigInt(currentTarget.value));
          }
        }}
      />
    </div>
  );
}

import { useEffect, useId, useRef, useState } from 'preact/hooks';

/** Wait for the next letter before asking the converter. */
const TYPING_MS = 250;

interface TextFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly narrow?: boolean;
  /** What may be meant. */
  readonly suggestions?: readonly string[];
  readonly onChange: (value: string) => void;
}

/** A labelled field of text; taken once typing pauses. */
export function TextField(props: TextFieldProps) {
  const { label, placeholder, value, narrow = false, suggestions = [], onChange } = props;
  const id = useId();
  const list = useId();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // The newest: what another field has changed meanwhile stays changed.
  const newestOnChange = useRef(onChange);
  newestOnChange.current = onChange;
  // Only typing starts the clock
  useEffect(() => {
    if (text === value) return;
    const timer = window.setTimeout(() => newestOnChange.current(text), TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return (
    <div class={`field ${narrow ? 'narrow' : ''}`}>
      <label class="field-label" for={id}>
        {label}
      </label>
      <input
        id={id}
        type="search"
        value={text}
        placeholder={placeholder}
        list={suggestions.length > 0 ? list : undefined}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </div>
  );
}

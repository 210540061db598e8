import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

interface HelpProps {
  /** The word that is explained. */
  readonly term: string;
  readonly children: ComponentChildren;
}

/** A question mark that explains a word where it stands: on click, focus or hover. */
export function Help({ term, children }: HelpProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    // Hovering is a shortcut for the button
    <span
      class="help"
      onMouseEnter={() => setOpen(true)}
      onMouseLeave={() => setOpen(false)}
      onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
    >
      <button
        type="button"
        class="help-mark"
        aria-label={`What is ${term}?`}
        aria-expanded={open}
        aria-describedby={open ? id : undefined}
        onClick={() => setOpen(!open)}
        onBlur={() => setOpen(false)}
      >
        ?
      </button>
      {open && (
        <span role="tooltip" id={id} class="help-text">
          {children}
        </span>
      )}
    </span>
  );
}

import type { ComponentChildren, RefObject } from 'preact';
import { ExportMenu, type Exports } from './ExportMenu';

export interface CardProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Beside the title: what the card shows right now. */
  readonly note?: ComponentChildren;
  /** At the right: what can be done with it. */
  readonly actions?: ComponentChildren;
  readonly exports: Exports;
  readonly busy?: boolean;
  readonly class?: string;
  /** Its body, to be measured. */
  readonly body?: RefObject<HTMLDivElement | null>;
}

/** A titled box, the frame of every view. */
export function Card({
  title,
  note,
  actions,
  exports,
  busy = false,
  children,
  body,
  ...rest
}: CardProps) {
  return (
    <section class={`card ${rest.class ?? ''}`} aria-label={title} aria-busy={busy}>
      <header class="card-header">
        <h2>{title}</h2>
        {note !== undefined && <span class="card-note">{note}</span>}
        <span class="card-actions">
          {actions}
          <ExportMenu {...exports} />
        </span>
      </header>
      <div class={`busy-bar ${busy ? 'busy' : ''}`} />
      <div class="card-body" ref={body ?? null}>
        {children}
      </div>
    </section>
  );
}

import type { Selection } from '../store/selection';
import { select } from '../store/session';

/** Chooses something, and brings the view that shows it onto the screen. */
export function showDetails(chosen: Partial<Selection>): void {
  select(chosen);
  document.getElementById('details')?.scrollIntoView({ behavior: 'smooth' });
}

/** The window whose address holds the selection: TensorBoard's when the tab is inside it. */

import { isPageOfItsOwn } from '../data/pageParts';

/** TensorBoard's own window; this one where the page stands alone, or is one of its own in a frame. */
export function hostWindow(): Window {
  // Whose frame such a page lies in, a blog's say, is none of its business.
  if (isPageOfItsOwn()) return window;
  try {
    // Reading the location throws when the parent is of another origin.
    void window.parent.location.hash;
    return window.parent;
  } catch {
    return window;
  }
}

export function readFragment(): string {
  return hostWindow().location.hash;
}

/** Writes the fragment; `push` leaves a stop for the back button. */
export function writeFragment(fragment: string, push: boolean): void {
  const host = hostWindow();
  if (host.location.hash === fragment) return;
  // Whole: in the cell of a notebook (about:srcdoc) the fragment alone would be of the notebook's address.
  const address = host.location.href.replace(/#.*$/s, '') + fragment;
  if (push) host.history.pushState(host.history.state, '', address);
  else host.history.replaceState(host.history.state, '', address);
}

/** Calls back when the reader goes back, forward or edits the address. */
export function onFragmentChange(callback: () => void): () => void {
  const host = hostWindow();
  host.addEventListener('popstate', callback);
  host.addEventListener('hashchange', callback);
  return () => {
    host.removeEventListener('popstate', callback);
    host.removeEventListener('hashchange', callback);
  };
}

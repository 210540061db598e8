/** Light or dark, as TensorBoard is. TensorBoard does not tell: its body carries a class. */
import { signal } from '@preact/signals';
import { hostWindow } from './address';

export type Theme = 'light' | 'dark';

export const theme = signal<Theme>('light');

/** Follows TensorBoard's dark mode; alone, the reader's system. Returns how to stop. */
export function followTheme(): () => void {
  const host = hostWindow();
  const preference = window.matchMedia('(prefers-color-scheme: dark)');
  const read = () => {
    const dark =
      host === window ? preference.matches : host.document.body.classList.contains('dark-mode');
    theme.value = dark ? 'dark' : 'light';
    document.documentElement.dataset.theme = theme.value;
  };
  read();
  const observer = new MutationObserver(read);
  observer.observe(host.document.body, { attributes: true, attributeFilter: ['class'] });
  preference.addEventListener('change', read);
  return () => {
    observer.disconnect();
    preference.removeEventListener('change', read);
  };
}

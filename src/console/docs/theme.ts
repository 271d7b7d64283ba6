/* Applies the theme that was chosen in the console to a page of the docs, before the page is drawn. */
import { themeKey } from '../styles/theme-key.ts';

try {
  document.documentElement.dataset['theme'] = localStorage.getItem(themeKey) ?? 'system';
} catch {
  // If storage is unavailable, the page has the theme of the system.
}

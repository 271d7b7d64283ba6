import { effect, signal } from '@preact/signals';
import { themeKey } from './theme-key.ts';

export const themes = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
export type Theme = keyof typeof themes;

export const theme = signal<Theme>(read());

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  try {
    localStorage.setItem(themeKey, chosen);
  } catch {
    // If storage is unavailable, the choice lasts until the page is closed.
  }
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(themeKey);
    return stored !== null && Object.hasOwn(themes, stored) ? (stored as Theme) : 'system';
  } catch {
    return 'system';
  }
}

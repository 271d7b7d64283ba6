import { effect, signal } from '@preact/signals';

/** The themes by name. */
export const themes = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
export type Theme = keyof typeof themes;

const key = 'flagmeter-theme';

export const theme = signal<Theme>(read());

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

/** Changes the theme, and stores it in this browser. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(key);
    return stored !== null && Object.hasOwn(themes, stored) ? (stored as Theme) : 'system';
  } catch {
    return 'system';
  }
}

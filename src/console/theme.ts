import { effect, signal } from '@preact/signals';

/** What the page looks like: as the reader's system, or as they say. */
export const themes = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
export type Theme = keyof typeof themes;

const key = 'flagmeter-theme';

export const theme = signal<Theme>(read());

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

/** Changes it, and remembers it in this browser. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // A browser that keeps nothing shows it until the page is left.
  }
}

function read(): Theme {
  try {
    const kept = localStorage.getItem(key);
    return kept !== null && Object.hasOwn(themes, kept) ? (kept as Theme) : 'system';
  } catch {
    return 'system';
  }
}

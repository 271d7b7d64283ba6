import { signal } from '@preact/signals';

const said = signal({ text: '', count: 0 });

/** Tells readers of a screen what has happened, when nothing that has the focus shows it. */
export function announce(text: string): void {
  said.value = { text, count: said.value.count + 1 };
}

/** The page's one live region. */
export function Announcer() {
  const { text, count } = said.value;
  return (
    <div class="hidden" role="status" aria-live="polite">
      {/* A new element is read out even when its text is the same as before. */}
      <span key={count}>{text}</span>
    </div>
  );
}

import { signal } from '@preact/signals';

const announced = signal({ text: '', count: 0 });

/** Announces a text to screen readers, for changes outside the focused element. */
export function announce(text: string): void {
  announced.value = { text, count: announced.value.count + 1 };
}

export function Announcer() {
  const { text, count } = announced.value;
  return (
    <div class="hidden" role="status" aria-live="polite">
      {/* A new element is announced even if its text is the same as before. */}
      <span key={count}>{text}</span>
    </div>
  );
}

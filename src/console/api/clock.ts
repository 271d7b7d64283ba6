import { signal } from '@preact/signals';

/** Offset of the server's clock from the browser's clock, ms. */
let offset = 0;

/** The server's time, Unix ms, updated every second while the page is visible. */
export const now = signal(Date.now());

export function currentTime(): number {
  return Date.now() + offset;
}

/** Sets the clock by the `Date` of a response, so that a wrong browser clock does not shift the ranges. */
export function learnTime(date: string | null): void {
  const served = Date.parse(date ?? '');
  const distance = served - Date.now();
  // The header has whole seconds, and the response took some time, so small differences are ignored.
  if (!Number.isNaN(distance)) offset = Math.abs(distance) < 3000 ? 0 : distance;
}

function tick(): void {
  if (!document.hidden) now.value = currentTime();
}

setInterval(tick, 1000);
document.addEventListener('visibilitychange', tick);

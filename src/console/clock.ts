import { signal } from '@preact/signals';

/** How far the server's clock is before this one, ms. */
let ahead = 0;

/** The server's time, Unix ms: it moves every second while the page is visible. */
export const now = signal(Date.now());

/** The server's time at this moment, Unix ms. */
export function currentTime(): number {
  return Date.now() + ahead;
}

/** Learns the server's time from an answer's `Date`, so that a wrong clock of this machine does not shift the ranges. */
export function learnTime(date: string | null): void {
  const served = Date.parse(date ?? '');
  const distance = served - Date.now();
  // The header has whole seconds, and the answer took some time to come: a small distance means nothing.
  if (!Number.isNaN(distance)) ahead = Math.abs(distance) < 3000 ? 0 : distance;
}

function tick(): void {
  if (!document.hidden) now.value = currentTime();
}

setInterval(tick, 1000);
document.addEventListener('visibilitychange', tick);

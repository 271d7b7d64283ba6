import type { Clock } from './clock.ts';
import type { Histogram } from './histogram.ts';

/** How often a thread looks how late it is, ms. */
const everyMs = 100;

/**
 * Measures how late the event loop of this thread comes to what is due.
 * @param delays takes seconds
 * @returns ends it
 */
export function watchLoop(delays: Histogram, clock: Pick<Clock, 'monotonic'>): () => void {
  let due = clock.monotonic() + everyMs;
  const timer = setInterval(() => {
    const now = clock.monotonic();
    delays.observe(Math.max(0, now - due) / 1000);
    due = now + everyMs;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

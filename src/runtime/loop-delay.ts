import type { Clock } from './clock.ts';
import type { Histogram } from './histogram.ts';

/** Interval between measurements, ms. */
const everyMs = 100;

/**
 * Measures the delay of this thread's event loop.
 * @param delays receives seconds
 * @returns a function that stops it
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

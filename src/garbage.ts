/**
 * Asks the engine to look for garbage now. Bun does so as memory is asked for, so what strangers have left behind would
 * stay while nothing else comes in. Node sees to it by itself.
 */
export function collectGarbage(): void {
  (globalThis as { Bun?: { gc(now: boolean): void } }).Bun?.gc(true);
}

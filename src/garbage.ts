/**
 * Collects garbage now. Bun collects when memory is allocated, so the memory of finished requests would stay allocated while
 * the service is idle. Node collects when it is idle, too.
 */
export function collectGarbage(): void {
  (globalThis as { Bun?: { gc(now: boolean): void } }).Bun?.gc(true);
}

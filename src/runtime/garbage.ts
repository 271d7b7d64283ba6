/**
 * Collects garbage now. Bun collects only when memory is allocated, so an idle service would keep the memory of
 * finished requests.
 */
export function collectGarbage(): void {
  (globalThis as { Bun?: { gc(now: boolean): void } }).Bun?.gc(true);
}

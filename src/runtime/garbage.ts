/**
 * Collects garbage immediately. Bun collects garbage only when memory is allocated, so an idle service would otherwise
 * keep the memory of finished requests.
 */
export function collectGarbage(): void {
  (globalThis as { Bun?: { gc(now: boolean): void } }).Bun?.gc(true);
}

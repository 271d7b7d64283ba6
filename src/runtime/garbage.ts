/**
 * Collects garbage now. Bun collects only when memory is allocated, so an idle service would keep the memory of finished
 * requests. Node also collects while idle.
 */
export function collectGarbage(): void {
  (globalThis as { Bun?: { gc(now: boolean): void } }).Bun?.gc(true);
}

import { realpathSync } from 'node:fs';
import type { Clock } from '../runtime/clock.ts';
import { collectGarbage } from '../runtime/garbage.ts';
import { dataFilesIn, ownStores } from '../storage/lmdb/data-file.ts';
import { openMappedPages } from '../storage/lmdb/mapped-pages.ts';

/** Minimum interval between two collections of garbage, ms. One takes up to 50 ms of the report thread. */
const collectEveryMs = 5000;

/** Minimum interval between two releases of mapped pages, ms. */
const unmapEveryMs = 100;

/**
 * Returns a function that releases the memory of finished reports: their garbage, and the pages of the data files that they read.
 * Reports of large stores leave a lot of both, and the runtime would keep them. Call it often, during long reports as well.
 */
export async function memoryReleaser(data: string, clock: Pick<Clock, 'monotonic'>): Promise<() => void> {
  const unmap = await openMappedPages();
  let collectedAt = clock.monotonic();
  let unmappedAt = collectedAt;
  return () => {
    const now = clock.monotonic();
    if (now - unmappedAt >= unmapEveryMs) {
      unmappedAt = now;
      unmap?.(dataFilesIn(data, ownStores).map((file) => realpathSync(file)));
    }
    if (now - collectedAt >= collectEveryMs) {
      collectedAt = now;
      collectGarbage();
    }
  };
}

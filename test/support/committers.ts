import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/runtime/clock.ts';
import type { JournaledCommitter } from '../../src/storage/commit/journaled-committer.ts';
import { type CommittersStart, startCommitters } from '../../src/storage/commit/start-committers.ts';
import type { UsageTables } from '../../src/storage/lmdb/usage.ts';

/** Returns the path of a worker in the build. */
export const workerFile = (name: string) => fileURLToPath(new URL(`../../dist/node/${name}.js`, import.meta.url));

/** Starts committers with real threads. A failed fold throws in the test, unless the test passes `failed`. */
export function startTestCommitters(
  store: UsageTables,
  data: string,
  parts: Partial<CommittersStart> = {},
): Promise<JournaledCommitter[]> {
  return startCommitters(store, { ...committersStart(data), ...parts });
}

/** Returns the options of committers with one journal lane. */
export function committersStart(data: string): CommittersStart {
  return {
    workerFile,
    data,
    workers: 1,
    randomBytes,
    log: { info: () => {}, warn: () => {} },
    clock: systemClock,
    failed: (error) => {
      throw error;
    },
  };
}

import { dirname, join } from 'node:path';
import { setTimeout as realPause } from 'node:timers/promises';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { dataFilesIn } from './data-file.ts';
import { isLocked, lockHolder, locksOf } from './lock.ts';

/** Timeout for a server to open its stores, and the polling interval, ms. */
const patienceMs = 10_000;
const lookEveryMs = 50;

/**
 * Waits until this process can open the stores of a data directory beside a server that may be using it. LMDB detects other
 * processes by their locks on its lock file. A server that is starting or stopping has locked the directory, but not these files.
 * It would not detect this process.
 * @throws {Error} if the server is in another container, or does not open its stores in time; the message contains the remedy
 */
export async function waitUntilSharable(
  data: string,
  clock: Pick<Clock, 'monotonic'> = systemClock,
  pause: (ms: number) => Promise<unknown> = realPause,
): Promise<void> {
  const began = clock.monotonic();
  while (isLocked(data) && !hasOpenStores(data)) {
    const holder = lockHolder(data);
    if (holder === undefined && isLocked(data))
      throw new Error(
        `Cannot use ${data} beside the server that is using it: the server runs in another container; run this command in its container, or stop the server first`,
      );
    if (clock.monotonic() - began >= patienceMs)
      throw new Error(
        `Cannot use ${data} beside process ${holder}, which has locked it but not opened its stores: wait until that server is ready, or stop it first; a server of version 0.1 must be stopped`,
      );
    await pause(lookEveryMs);
  }
}

/** Whether a process of this container has opened all stores of a data directory. */
function hasOpenStores(data: string): boolean {
  return dataFilesIn(data).every(
    (file) => locksOf(join(dirname(file), 'lock.mdb'), /POSIX +ADVISORY +READ/).length > 0,
  );
}

/*
 * A backup copies the stores, but the latest packets of a running server are only in its journal. A backup therefore
 * creates an empty file next to the journals, which requests a fold: the server adds the journal to the stores, and
 * then removes the file.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as realPause } from 'node:timers/promises';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { isPresent } from '../../runtime/files.ts';
import { areJournalsEmpty } from '../journal/directory.ts';
import { getJournalsDirectory } from '../journal/place.ts';

import { isLocked } from '../lmdb/lock.ts';
import type { Pace } from './pace.ts';

const name = /^fold\.\d+\.request$/;

/** Timeout for a fold, and the polling interval, ms. */
const patienceMs = 60_000;
const lookEveryMs = 50;

/**
 * Resolves when the store of a data directory has everything that its server accepted before the call.
 * @throws {Error} if no server uses the directory, or the server does not fold in time; the message contains the remedy
 * @throws {InterruptedError} if the task is interrupted first
 */
export async function requestFold(
  data: string,
  pace: Pick<Pace, 'wait'>,
  clock: Pick<Clock, 'monotonic'> = systemClock,
  pause: (ms: number) => Promise<unknown> = realPause,
): Promise<void> {
  if (areJournalsEmpty(data)) return;
  const request = join(getJournalsDirectory(data), `fold.${process.pid}.request`);
  const began = clock.monotonic();
  writeFileSync(request, '', { mode: 0o600 });
  try {
    while (existsSync(request)) {
      const hasEnded = !isLocked(data);
      if (hasEnded && areJournalsEmpty(data)) return;
      if (hasEnded)
        throw new Error(
          `Cannot back up ${data}: its server stopped and left packets in ${getJournalsDirectory(data)}; run flagmeter backup again`,
        );
      if (clock.monotonic() - began >= patienceMs)
        throw new Error(
          `Cannot back up ${data}: its server did not fold its journal within ${patienceMs / 1000} s; see its log and GET /readyz and try again, or stop it first`,
        );
      await pace.wait(pause(lookEveryMs));
    }
  } finally {
    rmSync(request, { force: true });
  }
}

/**
 * Handles the fold requests of waiting backups. @param fold resolves when the store has everything accepted before the
 * call
 */
export async function handleFoldRequests(data: string, fold: () => Promise<unknown>): Promise<void> {
  const journals = getJournalsDirectory(data);
  const requests = isPresent(journals) ? readdirSync(journals).filter((each) => name.test(each)) : [];
  if (requests.length === 0) return;
  await fold();
  for (const request of requests) rmSync(join(journals, request), { force: true });
}

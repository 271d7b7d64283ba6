/*
 * src/storage/upkeep: background work on the usage store. It decides which steps are due and paces them. The steps run on the commit
 * workers (see aggregate/maintain.ts), between batches.
 */

import { ApiError } from '../../contract/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Application } from '../lmdb/records.ts';
import { horizonsAt, type Retention } from '../lmdb/retention.ts';
import { type EraseDeps, eraseDeleted } from './erase-deleted.ts';
import { repeatUntilDone } from './repeat-until-done.ts';

/** Dependencies on the rest of the service. */
export interface UpkeepDeps extends EraseDeps {
  readonly clock: Clock;
  readonly retention: Retention;
  /** Retention of exposures, in days. */
  readonly exposureDays: number;
  readonly applications: ReadonlyMap<string, Application>;
  /** A step failed. Upkeep continues with the next round. */
  failed(error: unknown): void;
}

/** Maximum number of records per step. A step takes a few milliseconds, during which batches wait. */
const stepLimit = 8;
const betweenRoundsMs = 60_000;

/**
 * Runs in the background while the service runs. It removes the data of deleted applications and environments, rolls old buckets
 * up into wider ones, and deletes expired data. It works in rounds of small transactions.
 */
export async function runUpkeep(deps: UpkeepDeps): Promise<void> {
  do {
    await runRound(deps);
  } while (await deps.pause(betweenRoundsMs));
}

/** One round over all deletions and environments. Ends early if the service is stopping. */
export async function runRound(deps: UpkeepDeps): Promise<void> {
  try {
    if (await eraseDeleted(deps)) await retire(deps);
  } catch (error) {
    // A refusal means that the store accepts no writes, which is logged elsewhere. The next round retries.
    if (!(error instanceof ApiError)) deps.failed(error);
  }
}

async function retire({ clock, retention, exposureDays, applications, ...deps }: UpkeepDeps): Promise<void> {
  const now = clock.now();
  const horizons = horizonsAt(now, retention);
  for (const application of [...applications.values()]) {
    for (const { number: environment } of application.environments) {
      const step = { task: 'retention', environment, horizons, now, exposureDays, limit: stepLimit } as const;
      if (!(await repeatUntilDone(deps, application.number, step))) return;
    }
  }
}

/*
 * src/storage/upkeep: background work on the usage store. This folder decides which steps are due, and pauses between
 * the steps. The steps run on the commit workers (see aggregate/maintain.ts), between batches.
 */

import { Refusal } from '../../contract/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import type { UsageStore } from '../commit/usage-store.ts';
import { horizonsAt, type Retention } from '../lmdb/blocks.ts';
import type { Application, Deletion } from '../lmdb/records.ts';

export interface EraseDeps {
  readonly usageStore: Pick<UsageStore, 'maintain' | 'passed'>;
  /** Waits `ms`. Resolves to false if the service is stopping. */
  pause(ms: number): Promise<boolean>;
  readonly deletions: ReadonlyMap<string, Deletion>;
  /** Resolves when all earlier packets of an application are written or refused: see `Intake`. */
  settled(applicationNumber: number): Promise<void>;
  /** Drops cached data of the deleted object. */
  forget(deletion: Deletion): void;
  /** Called when no data of the deleted object is left on disk. */
  finished(deletion: Deletion): Promise<void>;
}

interface UpkeepDeps extends EraseDeps {
  readonly clock: Clock;
  readonly retention: Retention;
  readonly exposureDays: number;
  readonly applications: ReadonlyMap<string, Application>;
  /** Called when a step failed. Upkeep continues with the next round. */
  failed(error: unknown): void;
}

/**
 * Maximum number of records per step, so that a batch waits at most a few milliseconds for the end of a step. Records
 * of a deletion are adjacent, on few pages, so a step can touch more records.
 */
const stepLimit = { retention: 8, deletion: 64 };

/** Pause between two steps, so that upkeep uses only a small part of a worker's time. */
const betweenStepsMs = 2;
const betweenRoundsMs = 60_000;

/**
 * Removes the data of deletions, rolls old buckets up into wider buckets, and deletes expired data, in rounds of small
 * transactions.
 */
export async function runUpkeep(deps: UpkeepDeps): Promise<void> {
  do {
    await runRound(deps);
  } while (await deps.pause(betweenRoundsMs));
}

async function runRound(deps: UpkeepDeps): Promise<void> {
  try {
    if (await eraseDeleted(deps)) await retire(deps);
  } catch (error) {
    // A refusal means that the store accepts no writes, which is logged elsewhere. The next round retries the step.
    if (!(error instanceof Refusal)) deps.failed(error);
  }
}

/**
 * Removes the data of deleted applications and environments. The change that requests a deletion also removes the
 * application or environment, so later packets are refused. Earlier packets are settled before the first step, so no
 * data of this machine reappears after the last step. The deletion ends when other machines can no longer send data.
 * After a crash, the next process continues the deletion.
 * @returns false if the service is stopping
 * @throws {Refusal} `store_unavailable`
 * @throws {CommitError} if the store rejected a step
 */
export async function eraseDeleted(deps: EraseDeps): Promise<boolean> {
  for (const deletion of [...deps.deletions.values()]) {
    const { application } = deletion;
    await deps.settled(application);
    deps.forget(deletion);
    const step = { task: 'deletion', deletion, limit: stepLimit.deletion } as const;
    if (!(await repeatUntilDone(deps, application, step))) return false;
    if (await deps.usageStore.passed(deletion)) await deps.finished(deletion);
  }
  return true;
}

async function retire({ clock, retention, exposureDays, applications, ...deps }: UpkeepDeps): Promise<void> {
  const now = clock.now();
  const horizons = horizonsAt(now, retention);
  const due = { task: 'retention', horizons, now, exposureDays, limit: stepLimit.retention } as const;
  for (const { number, environments } of [...applications.values()])
    for (const { number: environment } of environments)
      if (!(await repeatUntilDone(deps, number, { ...due, environment }))) return;
}

/** Repeats a step until the step touches no records. @returns false if the service is stopping */
async function repeatUntilDone(
  { usageStore, pause }: Pick<EraseDeps, 'usageStore' | 'pause'>,
  application: number,
  step: Maintenance,
): Promise<boolean> {
  while ((await usageStore.maintain(application, step)) > 0) if (!(await pause(betweenStepsMs))) return false;
  return true;
}

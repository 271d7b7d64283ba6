import type { Committer } from '../aggregate/committer.ts';
import type { Clock } from '../clock.ts';
import type { Application } from '../store/records.ts';
import { horizonsAt, type Retention } from '../store/retention.ts';

/** What upkeep needs of the rest of the service. */
export interface UpkeepParts {
  readonly clock: Clock;
  readonly retention: Retention;
  /** Days that exposures are kept. */
  readonly exposureDays: number;
  readonly applications: ReadonlyMap<string, Application>;
  committerOf(applicationNumber: number): Committer;
  /** Resolves after `ms`; false when the service is stopping, and upkeep with it. */
  pause(ms: number): Promise<boolean>;
  /** A step failed; upkeep goes on with the next round. */
  failed(error: unknown): void;
}

/** Records a step may touch: a step takes a few milliseconds, and batches wait for no longer. */
const stepLimit = 8;
/** Between two steps, so that upkeep takes a small part of a worker's time. */
const betweenStepsMs = 2;
const betweenRoundsMs = 60_000;

/**
 * Rolls old buckets up into wider ones and deletes what is over its retention, in the background, for as long as the
 * service runs: round after round over every environment, in small transactions.
 */
export async function keepUp(parts: UpkeepParts): Promise<void> {
  do {
    await runRound(parts);
  } while (await parts.pause(betweenRoundsMs));
}

/** One round over every environment; ends early when the service is stopping. */
export async function runRound(parts: UpkeepParts): Promise<void> {
  const { exposureDays } = parts;
  const now = parts.clock.now();
  const horizons = horizonsAt(now, parts.retention);
  try {
    for (const application of [...parts.applications.values()]) {
      const committer = parts.committerOf(application.number);
      for (const { number } of application.environments) {
        const step = { environment: number, horizons, now, exposureDays, limit: stepLimit };
        while ((await committer.maintain(step)) > 0) if (!(await parts.pause(betweenStepsMs))) return;
      }
    }
  } catch (error) {
    parts.failed(error);
  }
}

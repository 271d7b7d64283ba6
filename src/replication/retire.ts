import type { HotTables } from '../storage/aggregate/hot-tables.ts';
import { rollUp } from '../storage/aggregate/roll-up.ts';
import { minutesPerDay, numbersOfEnvironments } from '../storage/lmdb/blocks.ts';
import { sweepExposures } from '../storage/lmdb/exposures.ts';
import { sweepInstances } from '../storage/lmdb/instances.ts';
import type { ReplicaStore } from '../storage/lmdb/replica-store.ts';
import { horizonsAt } from '../storage/lmdb/retention.ts';
import { slotMs, sweepSenders } from '../storage/lmdb/senders.ts';
import { deleteSketches } from '../storage/lmdb/sketches.ts';
import type { ChangedDays } from './changed-days.ts';
import type { Erased } from './erased.ts';
import type { ReplicaSettings } from './settings.ts';

/** Most records that are touched between two pauses. */
const stepLimit = 8;

/** What has passed its retention goes from these. */
export interface RetireParts {
  readonly store: ReplicaStore;
  readonly hot: HotTables;
  readonly erased: Erased;
  readonly days: ChangedDays;
}

/**
 * Rolls up and deletes what has passed its retention by `now` (Unix ms), as far as that decides what later entries come to: sums
 * of fractions, who is listed, which limits are met. It pauses after each step, and may be begun again: what is done stays done.
 * Call each step in a transaction, with nothing in `hot` that is not put.
 */
export function* retire(
  parts: RetireParts,
  settings: ReplicaSettings,
  now: number,
): Generator<undefined, void> {
  const { store, hot, erased, days } = parts;
  const horizons = horizonsAt(now, settings);
  for (const environment of environmentsOf(store)) {
    if (erased.hasEnvironment(environment)) continue;
    yield* untilDone((room) => rollUp(store, hot, environment, horizons, room));
    yield* untilDone((room) => {
      const deleted = deleteSketches(store, environment, Math.floor(horizons.days / minutesPerDay), room);
      if (deleted > 0) hot.sketches.forget(); // Users of a day that was deleted must not come back with one who is late.
      return deleted;
    });
    days.remove(environment, Math.floor(horizons.days / minutesPerDay));
    yield* sweepAllSenders(store, environment, now);
  }
  yield* untilDone((room) => sweepInstances(store, now, room));
  yield* untilDone((room) => sweepExposures(store, now, room, settings.exposureDays));
}

function* untilDone(step: (limit: number) => number): Generator<undefined, void> {
  while (step(stepLimit) > 0) yield;
}

function* sweepAllSenders(store: ReplicaStore, environment: number, now: number): Generator<undefined, void> {
  const slot = Math.floor(now / slotMs);
  let from: number | undefined = 0;
  while (from !== undefined) {
    from = sweepSenders(store, environment, from, slot, stepLimit);
    yield;
  }
}

/** The numbers of the environments that something is kept of, ascending. */
export function environmentsOf({ series, sketches, senders }: ReplicaStore): number[] {
  const found = [series, sketches, senders].flatMap((table) => [...numbersOfEnvironments(table)]);
  return [...new Set(found)].sort((a, b) => a - b);
}

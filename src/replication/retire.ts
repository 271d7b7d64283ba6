import { rollUp } from '../storage/aggregate/maintain.ts';
import { horizonsAt, minutesPerDay, numbersOfEnvironments } from '../storage/lmdb/blocks.ts';
import { sweepExposures } from '../storage/lmdb/exposures.ts';
import { sweepInstances } from '../storage/lmdb/instances.ts';
import { slotMs, sweepSenders } from '../storage/lmdb/senders.ts';
import { deleteSketches } from '../storage/lmdb/sketches.ts';
import { sweepTotals } from '../storage/lmdb/totals.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { DeltaParts } from './apply-delta.ts';
import type { ReplicaSettings } from './settings.ts';

/** Maximum number of records touched between two pauses. */
const stepLimit = 8;
/** The same for totals. Nearly all of them are only read. */
const totalsPerStep = 500;

type RetireParts = Pick<DeltaParts, 'store' | 'hot' | 'erased' | 'days'>;

/**
 * Rolls up and deletes data past its retention at `now` (Unix ms), as far as it affects later entries: sums of fractions, listed
 * people, limits. It pauses after each step, and can be repeated. Call each step in a transaction, with nothing unwritten in `hot`.
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
      if (deleted > 0) hot.sketches.forget(); // A late user must not restore the users of a deleted day.
      return deleted;
    });
    days.remove(environment, Math.floor(horizons.days / minutesPerDay));
    yield* sweepAllSenders(store, environment, now);
  }
  yield* untilDone((room) => sweepInstances(store, now, room));
  yield* untilDone((room) => sweepExposures(store, now, room, settings.exposureDays));
  yield* sweepAllTotals(store, now);
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

function* sweepAllTotals(store: ReplicaStore, now: number): Generator<undefined, void> {
  let from: Buffer | undefined = Buffer.alloc(0);
  while (from !== undefined) {
    from = sweepTotals(store, now, from, totalsPerStep);
    yield;
  }
}

/** The numbers of the environments with data, ascending. */
export function environmentsOf({ series, sketches, senders }: ReplicaStore): number[] {
  const found = [series, sketches, senders].flatMap((table) => [...numbersOfEnvironments(table)]);
  return [...new Set(found)].sort((a, b) => a - b);
}

/*
 * src/storage/aggregate: the commit workers' operations on the usage store, besides batches. Cells are merged (merge.ts) and cached
 * (hot-tables.ts), unique users are counted (hyperloglog.ts, unique-users.ts), and upkeep rolls up and deletes (this file).
 */

import { minutesPerDay } from '../lmdb/blocks.ts';
import { removeAllExposures, sweepExposures } from '../lmdb/exposures.ts';
import { removeAllIdentities, sweepInstances } from '../lmdb/instances.ts';
import { removeByPrefix } from '../lmdb/key-prefix.ts';
import { removeRemembered } from '../lmdb/messages.ts';
import type { Deletion } from '../lmdb/records.ts';
import type { Horizons } from '../lmdb/retention.ts';
import { deleteSketches } from '../lmdb/sketches.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { HotTables } from './hot-tables.ts';
import { carry, expire, rollUp } from './roll-up.ts';

export type Maintenance = RetentionStep | DeletionStep;

interface Step {
  /** Maximum number of records to touch. Bounds how long a batch waits for the step. */
  readonly limit: number;
}

export interface RetentionStep extends Step {
  readonly task: 'retention';
  readonly environment: number;
  readonly horizons: Horizons;
  /** Unix ms. */
  readonly now: number;
  readonly exposureDays: number;
}

interface DeletionStep extends Step {
  readonly task: 'deletion';
  readonly deletion: Deletion;
}

/** Does one step, inside a transaction. @returns records touched: 0 if nothing is left to do */
export function maintain(store: UsageTables, hot: HotTables, step: Maintenance): number {
  const chores = step.task === 'deletion' ? erasures(store, step.deletion) : retentions(store, hot, step);
  let touched = 0;
  for (const chore of chores) if (touched < step.limit) touched += chore(step.limit - touched);
  return touched;
}

function retentions(store: UsageTables, hot: HotTables, step: RetentionStep): readonly Chore[] {
  const { environment, horizons, now, exposureDays } = step;
  const sketchDays = Math.floor(horizons.days / minutesPerDay);
  return [
    (room) => carry(store, hot.counts, environment, Math.floor(now / 60_000) - 1, room),
    (room) => expire(store, hot.counts, environment, horizons, room),
    (room) => rollUp(store, hot, environment, horizons, room),
    (room) => deleteSketches(store, environment, sketchDays, room),
    (room) => sweepInstances(store, now, room),
    (room) => sweepExposures(store, now, room, exposureDays),
    (room) => hot.senders.step(environment, now, room),
    (room) => hot.totals.step(now, room),
  ];
}

/** A part of an upkeep step. It touches at most `room` records. @returns records touched */
export type Chore = (room: number) => number;

/**
 * The chores that remove all data of a deleted application or environment. Nothing may write to it by then, because the memory
 * of workers is not searched for it. The ledger belongs to the application, so deleting an environment keeps it. The messages
 * of the last minutes contain no personal data and expire.
 */
export function erasures(
  store: UsageTables,
  { application, environments, whole }: Deletion,
): readonly Chore[] {
  const { counts, carried, measurements, sketches, seen, senders, series } = store;
  const inEnvironments = environments.flatMap((environment): Chore[] => [
    ...[counts, carried, measurements, sketches, seen, senders, series].map(
      (table) => (room: number) => removeByPrefix(table, environment, room),
    ),
    (room) => removeAllExposures(store, environment, room),
    (room) => removeRemembered(store, application, environment, room),
  ]);
  if (!whole) return inEnvironments;
  return [
    ...inEnvironments,
    (room) => removeAllIdentities(store, application, room),
    (room) => removeByPrefix(store.ledger, application, room),
    (room) => removeByPrefix(store.totals, application, room),
  ];
}

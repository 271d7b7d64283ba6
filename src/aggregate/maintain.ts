import { sweepExposures } from '../store/exposures.ts';
import { sweepInstances } from '../store/instances.ts';
import type { Deletion } from '../store/records.ts';
import type { Horizons } from '../store/retention.ts';
import { deleteSketches } from '../store/sketches.ts';
import type { UsageStore } from '../store/usage.ts';
import { type Chore, erasures } from './erase.ts';
import type { HotTables } from './hot-tables.ts';
import { rollUp } from './roll-up.ts';

/** One small step of upkeep. */
export type Maintenance = RetentionStep | DeletionStep;

interface Step {
  /** Most records to touch, which bounds how long a batch waits for the step. */
  readonly limit: number;
}

/** Of one environment, and of the people of all: what is over its time goes. */
export interface RetentionStep extends Step {
  readonly task: 'retention';
  readonly environment: number;
  readonly horizons: Horizons;
  /** Unix ms. */
  readonly now: number;
  /** Days that exposures are kept. */
  readonly exposureDays: number;
}

/** What is kept of something deleted goes. */
export interface DeletionStep extends Step {
  readonly task: 'deletion';
  readonly deletion: Deletion;
}

/** Does the step, inside a transaction; gives how many records it touched, 0 when nothing is left to do. */
export function maintain(store: UsageStore, hot: HotTables, step: Maintenance): number {
  const chores = step.task === 'deletion' ? erasures(store, step.deletion) : retentions(store, hot, step);
  let touched = 0;
  for (const chore of chores) if (touched < step.limit) touched += chore(step.limit - touched);
  return touched;
}

function retentions(store: UsageStore, hot: HotTables, step: RetentionStep): readonly Chore[] {
  const { environment, horizons, now, exposureDays } = step;
  const sketchDays = Math.floor(horizons.days / 1440);
  return [
    (room) => rollUp(store, hot, environment, horizons, room),
    (room) => deleteSketches(store, environment, sketchDays, room),
    (room) => sweepInstances(store, now, room),
    (room) => sweepExposures(store, now, room, exposureDays),
  ];
}

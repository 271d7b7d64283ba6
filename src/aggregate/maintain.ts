import { sweepExposures } from '../store/exposures.ts';
import { sweepInstances } from '../store/instances.ts';
import type { Horizons } from '../store/retention.ts';
import { deleteSketches } from '../store/sketches.ts';
import type { UsageStore } from '../store/usage.ts';
import { rollUp } from './roll-up.ts';
import type { HotTables } from './sections.ts';

/** One small step of upkeep, of one environment and of the people of all. */
export interface Maintenance {
  readonly environment: number;
  readonly horizons: Horizons;
  /** Unix ms. */
  readonly now: number;
  /** Days that exposures are kept. */
  readonly exposureDays: number;
  /** Most records to touch, which bounds how long a batch waits for the step. */
  readonly limit: number;
}

/** Does the step, inside a transaction; gives how many records it touched, 0 when nothing is left to do. */
export function maintain(store: UsageStore, hot: HotTables, step: Maintenance): number {
  const { environment, horizons, now, exposureDays, limit } = step;
  const sketchDays = Math.floor(horizons.days / 1440);
  const tasks = [
    (room: number) => rollUp(store, hot, environment, horizons, room),
    (room: number) => deleteSketches(store, environment, sketchDays, room),
    (room: number) => sweepInstances(store, now, room),
    (room: number) => sweepExposures(store, now, room, exposureDays),
  ];
  let touched = 0;
  for (const task of tasks) if (touched < limit) touched += task(limit - touched);
  return touched;
}

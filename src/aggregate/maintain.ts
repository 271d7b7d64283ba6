import type { Horizons } from '../store/retention.ts';
import { deleteSketches } from '../store/sketches.ts';
import type { UsageStore } from '../store/usage.ts';
import { rollUp } from './roll-up.ts';
import type { HotTables } from './sections.ts';

/** One small step of upkeep in one environment. */
export interface Maintenance {
  readonly environment: number;
  readonly horizons: Horizons;
  /** Most records to touch, which bounds how long a batch waits for the step. */
  readonly limit: number;
}

/** Does the step, inside a transaction; gives how many records it touched, 0 when nothing is left to do. */
export function maintain(store: UsageStore, hot: HotTables, step: Maintenance): number {
  const { environment, horizons, limit } = step;
  const moved = rollUp(store, hot, environment, horizons, limit);
  return moved + deleteSketches(store, environment, Math.floor(horizons.days / 1440), limit - moved);
}

import { join } from 'node:path';
import type { LoadPlan, LoadReport } from '../src/bench/load/plan.ts';
import { runLoad } from '../src/bench/load/run-load.ts';

/** Runs a plan with the load generator of this repository. @throws {Error} if it fails */
export function load(plan: LoadPlan): Promise<LoadReport> {
  return runLoad(plan, join(import.meta.dirname, '../src/bench/load/generator-thread.ts'));
}

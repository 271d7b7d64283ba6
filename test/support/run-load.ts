import { load } from '../../bench/load.ts';
import type { LoadPlan } from '../../src/bench/load/plan.ts';

/** Reads a load plan from standard input, runs it with the load generator, which needs Bun, and prints the report. */
process.stdout.write(JSON.stringify(await load((await Bun.stdin.json()) as LoadPlan)));

import { join } from 'node:path';
import { generate } from './generator.ts';
import type { Measured, Timing } from './load-run.ts';

/** What the load generator is to do. */
export interface LoadPlan extends Timing {
  readonly host: string;
  readonly port: number;
  /** Keep-alive connections; each has one request under way. */
  readonly connections: number;
  /** Whole HTTP/1.1 requests, sent in turn. */
  readonly requests: readonly string[];
  /** The status of a request that went well; 202 without it. */
  readonly status?: number;
}

/** What happened. */
export interface LoadReport extends Measured {
  /** Requests that went well, those of the warm-up too. */
  readonly requests: number;
  /** The same by index of the request. */
  readonly accepted: readonly number[];
  /** Everything that did not go well: by status, or `closed`, `connect`, `unanswered`, `unasked`, `unreadable`. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Runs the plan. @throws {Error} when the generator fails */
export function load(plan: LoadPlan): Promise<LoadReport> {
  return generate(join(import.meta.dirname, 'drive.ts'), plan);
}

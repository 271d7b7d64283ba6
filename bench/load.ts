import { join } from 'node:path';
import { generate } from './generator.ts';
import type { Measured, Timing } from './load-run.ts';

/** A plan of the load generator. */
export interface LoadPlan extends Timing {
  readonly host: string;
  readonly port: number;
  /** Keep-alive connections, each with one request in progress. */
  readonly connections: number;
  /** Whole HTTP/1.1 requests, sent in turn. */
  readonly requests: readonly string[];
  /** `latin1` if the requests are bytes, one per character; `utf8` by default. */
  readonly encoding?: 'latin1';
  /** A time in each request, with microseconds, that the generator replaces by the time of sending. No two are the same. */
  readonly time?: string;
  /** The status of a successful request; 202 by default. */
  readonly status?: number;
}

/** The outcome. */
export interface LoadReport extends Measured {
  /** Number of successful requests, including the warm-up. */
  readonly requests: number;
  /** The same by index of the request. */
  readonly accepted: readonly number[];
  /** Unsuccessful requests: by status, or `closed`, `connect`, `unanswered`, `unasked`, `unreadable`. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Runs the plan. @throws {Error} if the generator fails */
export function load(plan: LoadPlan): Promise<LoadReport> {
  return generate(join(import.meta.dirname, 'drive.ts'), plan);
}

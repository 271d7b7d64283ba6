import type { Environment, FeatureDeclaration } from '../storage/lmdb/records.ts';

/** What is asked of the usage of an application. Times are Unix ms. */
export interface WatchTask {
  /** Its number, as the ledger has it. */
  readonly application: number;
  readonly environments: readonly Pick<Environment, 'name' | 'number'>[];
  /** Features that were first seen in an environment from then on are wanted; `null`: none. */
  readonly firstSeenFrom: number | null;
  /** Features that have become stale from then on are wanted. */
  readonly stale: StaleTask | null;
  /** Refusals after then are wanted. */
  readonly refusedFrom: number | null;
}

export interface StaleTask {
  readonly from: number;
  /** What came later may not be here yet. */
  readonly now: number;
  readonly staleAfterMs: number;
  readonly declared: readonly FeatureDeclaration[];
}

/** What was found. */
export interface Findings {
  readonly firstSeen: readonly FirstSeen[];
  readonly stale: readonly StaleFeature[];
  readonly refused: readonly RefusedMessages[];
}

export interface FirstSeen {
  readonly environment: Pick<Environment, 'name' | 'number'>;
  readonly feature: string;
  /** To the minute. */
  readonly at: number;
}

export interface StaleFeature {
  readonly feature: string;
  /** Since when. */
  readonly since: number;
  /** `null` when it was only declared. */
  readonly lastSeenAt: number | null;
}

/** Messages of the last two hours that were refused for one reason in one environment. */
export interface RefusedMessages {
  /** `null` when the application has no such environment, or none was named. */
  readonly environment: Pick<Environment, 'name' | 'number'> | null;
  readonly code: string;
  readonly status: number;
  readonly count: number;
  readonly lastAt: number;
}

/** Answers what is asked. */
export type Find = (task: WatchTask) => Promise<Findings>;

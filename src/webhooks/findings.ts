import type { Verdict } from '../contract/shapes/verdict.ts';
import type { VerdictKind } from '../contract/verdicts.ts';
import type { Environment, FeatureDeclaration } from '../storage/lmdb/records.ts';

/** A query on the usage of an application. Times are Unix ms. */
export interface WatchTask {
  /** The application's number in the ledger. */
  readonly application: number;
  readonly environments: readonly Pick<Environment, 'name' | 'number'>[];
  readonly declared: readonly FeatureDeclaration[];
  /** The end of the evaluated time range. Later data is ignored, because it might be incomplete. */
  readonly now: number;
  readonly staleAfterMs: number;
  /** Start of the time range for features first seen in an environment; `null` to skip these features. */
  readonly firstSeenFrom: number | null;
  /** Start of the time range for features that became stale; `null` to skip these features. */
  readonly staleFrom: number | null;
  /** Time of the earliest announcement that current verdicts are compared with; `null` to skip verdicts. */
  readonly verdictsFrom: number | null;
  /** If present, only the verdicts of these features are searched, and their reasons are included. */
  readonly explained?: ReadonlySet<string>;
  /** Start of the time range for refusals; `null` to skip refusals. */
  readonly refusedFrom: number | null;
}

export interface Findings {
  readonly firstSeen: readonly FirstSeenFeature[];
  readonly stale: readonly StaleFeature[];
  readonly verdicts: readonly FoundVerdict[];
  readonly refused: readonly RefusedMessages[];
}

/** The verdict on a feature in all environments. */
export interface FoundVerdict {
  readonly feature: string;
  readonly kind: VerdictKind;
  readonly since: number | null;
  readonly environments: readonly string[];
  readonly lastSeenAt: number | null;
  /** The time of the declaration from which the verdict was computed; `null` if the feature is undeclared. */
  readonly declaredAt: number | null;
  /** Empty unless `explained` of the task includes the feature. */
  readonly reasons: Verdict['reasons'];
}

export interface FirstSeenFeature {
  readonly environment: Pick<Environment, 'name' | 'number'>;
  readonly feature: string;
  /** The time when the feature was first seen, to the minute. */
  readonly at: number;
}

export interface StaleFeature {
  readonly feature: string;
  readonly since: number;
  /** `null` if the feature was declared but never seen. */
  readonly lastSeenAt: number | null;
}

/** Messages refused for one reason in one environment, in the last two hours. */
export interface RefusedMessages {
  /** `null` if the messages named no environment of the application. */
  readonly environment: Pick<Environment, 'name' | 'number'> | null;
  readonly code: string;
  readonly status: number;
  readonly count: number;
  readonly lastAt: number;
}

/** Flags that can be removed, safest first. */
export interface FoundForCleanup {
  readonly removable: readonly {
    readonly feature: string;
    readonly kind: VerdictKind;
    readonly since: string | null;
    readonly variant: string | null;
  }[];
  readonly total: number;
  readonly keptTotal: number;
  readonly counts: { readonly flags: number; readonly undeclared: number; readonly archivedButAsked: number };
}

export type FindForCleanup = (
  task: Pick<WatchTask, 'environments' | 'declared' | 'now' | 'staleAfterMs'>,
) => Promise<FoundForCleanup>;

export type Find = (task: WatchTask) => Promise<Findings>;

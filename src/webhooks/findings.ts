import type { Verdict } from '../contract/shapes/verdict.ts';
import type { VerdictKind } from '../contract/verdicts.ts';
import type { Environment, FeatureDeclaration } from '../storage/lmdb/records.ts';

/** A query on the usage of an application. Times are Unix ms. */
export interface WatchTask {
  /** The application's number in the ledger. */
  readonly application: number;
  readonly environments: readonly Pick<Environment, 'name' | 'number'>[];
  readonly declared: readonly FeatureDeclaration[];
  /** Later data may be incomplete. */
  readonly now: number;
  readonly staleAfterMs: number;
  /** Find features first seen in an environment since then; `null`: none. */
  readonly firstSeenFrom: number | null;
  /** Find features that became stale since then. */
  readonly staleFrom: number | null;
  /** Find all verdicts. They are compared with those announced since then. */
  readonly verdictsFrom: number | null;
  /** Find the verdicts on these features only, with their reasons. */
  readonly explained?: ReadonlySet<string>;
  /** Find refusals after this time. */
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
  /** The time of the declaration that it was computed with; `null` if undeclared. */
  readonly declaredAt: number | null;
  /** Empty unless explained. */
  readonly reasons: Verdict['reasons'];
}

export interface FirstSeenFeature {
  readonly environment: Pick<Environment, 'name' | 'number'>;
  readonly feature: string;
  /** To the minute. */
  readonly at: number;
}

export interface StaleFeature {
  readonly feature: string;
  readonly since: number;
  /** `null` if it was only declared. */
  readonly lastSeenAt: number | null;
}

/** Messages of the last two hours, refused for one reason in one environment. */
export interface RefusedMessages {
  /** `null` if the application has no such environment, or none was named. */
  readonly environment: Pick<Environment, 'name' | 'number'> | null;
  readonly code: string;
  readonly status: number;
  readonly count: number;
  readonly lastAt: number;
  /** The instances or programs that sent them. */
  readonly senders: ReadonlySet<string>;
}

/** The flags that can go, the safe ones first. */
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

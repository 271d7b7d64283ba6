import type { ExperimentDecision } from '../contract/experiment-state.ts';
import type { Verdict } from '../contract/shapes/verdict.ts';
import type { VerdictKind } from '../contract/verdicts.ts';
import type { Application, Environment, FeatureDeclaration } from '../storage/lmdb/records.ts';

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
  /** Minimum time of the latest refusal of a finding; `null` to skip refusals. */
  readonly refusedFrom: number | null;
}

export interface Findings {
  readonly firstSeen: readonly FirstSeenFeature[];
  readonly stale: readonly StaleFeature[];
  readonly verdicts: readonly FoundVerdict[];
  readonly refused: readonly RefusalFinding[];
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

/** Messages of an environment that were refused for one reason. The page of received messages covers the same hours. */
export interface RefusalFinding {
  /** Name of the environment; `null` if the messages named no existing environment. */
  readonly environment: string | null;
  readonly code: string;
  readonly status: number;
  /** Number of refused messages. */
  readonly count: number;
  /** Time of the first refusal, Unix ms, to the hour; `undefined` if older refusals in unread hours are possible. */
  readonly since: number | undefined;
  readonly lastAt: number;
  /** Time without refusals after which the finding is over, ms. */
  readonly quietMs: number;
  /** Names of the programs, in the order of their latest refusals. */
  readonly senders: readonly string[];
}

/** The number of names found, and the first of these names. */
interface NameSample {
  readonly count: number;
  readonly names: readonly string[];
}

/** The findings about flags. */
export type FeatureFindingKind = 'archived_but_asked' | 'flags_can_go' | 'split_mismatch' | 'undeclared';

/** The flags of an environment, or of the whole application. */
export interface FeatureFindings {
  /** Number of flags seen or declared. */
  readonly flags: number;
  readonly found: Readonly<Record<FeatureFindingKind, NameSample>>;
}

/** The findings of an application for the weekly digest. */
export interface FoundForDigest extends FeatureFindings {
  /** Flags that can be removed, safest first. */
  readonly removable: readonly {
    readonly feature: string;
    readonly kind: VerdictKind;
    readonly since: string | null;
    readonly variant: string | null;
  }[];
  readonly keptTotal: number;
  readonly experiments: readonly ExperimentConclusion[];
}

/** The result of an experiment that has finished recently. */
export interface ExperimentConclusion {
  readonly id: string;
  readonly name: string;
  /** Name of the environment; `null` if the environment was deleted. */
  readonly environment: string | null;
  /** Unix ms. */
  readonly at: number;
  readonly outcome: string;
  readonly decision: ExperimentDecision;
  /** The result in a sentence. */
  readonly text: string;
}

export type FindForDigest = (application: Application, now: number) => Promise<FoundForDigest>;

export type Find = (task: WatchTask) => Promise<Findings>;

import type { LedgerNote } from '../../contract/notes.ts';

/**
 * What a usage or a metrics report says, whatever it came in: JSON, gRPC or gRPC-Web. The decoders of the transports
 * make these; names and counts are checked, the key is not looked up yet.
 */

/** Fields that both kinds of report have. Times are Unix ms, with microseconds as a fraction. */
export interface ReportHead {
  readonly appKey: string;
  readonly environment: string;
  /** Unix ms. */
  readonly time: number;
  readonly instanceName: string | undefined;
  /** Unix ms. */
  readonly processStartTime: number | undefined;
  /** What the ledger notes when the report is accepted. */
  readonly notes: readonly ReportNote[];
}

/** The notes that a report can have before it is counted. */
export type ReportNote = Extract<
  LedgerNote,
  'name_dropped' | 'value_missing' | 'value_dropped' | 'time_zone_missing'
>;

/** Counts of one variant. */
export interface VariantUsage {
  readonly feature: string;
  readonly variant: string;
  readonly checks: number;
  readonly used: number;
  readonly viewed: number;
}

/**
 * Hashes that stand for users, made by the sender: integers of any size, so in decimal, canonical (`-12`, no leading
 * zeros). They belong to the feature, for a sender does not say which variant a user got.
 */
export interface FeatureUsers {
  readonly feature: string;
  readonly hashes: readonly string[];
}

export interface UsageReport extends ReportHead {
  /** The version of the program that reports. */
  readonly appVersion: string | undefined;
  /** `stats` entries received, which is what the sender is answered. */
  readonly statCount: number;
  readonly variants: readonly VariantUsage[];
  readonly users: readonly FeatureUsers[];
  /** Users of the whole environment. */
  readonly environmentHashes: readonly string[];
}

/** One value of a metric; with a feature it is a series of the feature's variant. */
export interface MetricValue {
  readonly metric: string;
  readonly feature: string | undefined;
  readonly variant: string | undefined;
  readonly value: number;
  /** Unix ms: an observation's own time, else the report's. */
  readonly time: number;
}

export interface MetricsReport extends ReportHead {
  /** `stats` entries received, which is what the sender is answered. */
  readonly statCount: number;
  readonly values: readonly MetricValue[];
}

/** A report of either kind. */
export type Report = UsageReport | MetricsReport;

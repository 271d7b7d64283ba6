import type { LedgerNote } from '../../contract/notes.ts';

/**
 * A usage or metrics report, whatever its transport: JSON, gRPC or gRPC-Web. The decoders of the transports create it with
 * checked names and counts. The key is not resolved yet.
 */

/** Fields of both kinds of report. Times are Unix ms, with microseconds as a fraction. */
export interface ReportHead {
  readonly appKey: string;
  readonly environment: string;
  /** Unix ms. */
  readonly time: number;
  readonly instanceName: string | undefined;
  /** Unix ms. */
  readonly processStartTime: number | undefined;
  /** The ledger notes of an accepted report. */
  readonly notes: readonly ReportNote[];
}

/** Possible notes on a report before it is counted. */
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
 * Hashes that the sender made of its users: canonical decimal integers of any size (`-12`, no leading zeros). They belong to
 * the feature, because senders do not report which variant a user got.
 */
export interface FeatureUsers {
  readonly feature: string;
  readonly hashes: readonly string[];
}

export interface UsageReport extends ReportHead {
  /** Version of the reporting program. */
  readonly appVersion: string | undefined;
  /** Number of `stats` entries received, which the answer contains. */
  readonly statCount: number;
  readonly variants: readonly VariantUsage[];
  readonly users: readonly FeatureUsers[];
  /** Users of the whole environment. */
  readonly environmentHashes: readonly string[];
}

/** One value of a metric. With a feature, it belongs to a series of the feature's variant. */
export interface MetricValue {
  readonly metric: string;
  readonly feature: string | undefined;
  readonly variant: string | undefined;
  readonly value: number;
  /** Unix ms: the time of the observation, or else of the report. */
  readonly time: number;
}

export interface MetricsReport extends ReportHead {
  /** Number of `stats` entries received, which the answer contains. */
  readonly statCount: number;
  readonly values: readonly MetricValue[];
}

/** A report of either kind. */
export type Report = UsageReport | MetricsReport;

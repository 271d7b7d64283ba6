import type { LargeBodies } from '../admission/large-bodies.ts';
import type { ApiError } from '../errors.ts';
import type { LedgerNote } from '../ledger/notes.ts';

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
export type ReportNote = Extract<LedgerNote, 'name_dropped' | 'value_missing'>;

/** Whom a report concerns that was not taken, as far as that could be made out; nothing of it is checked. */
export type ReportGlimpse = Partial<Pick<ReportHead, 'appKey' | 'environment' | 'instanceName'>>;

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

/** The two kinds of report. */
export type ReportRoute = 'usage' | 'metrics';

/** Who sent a report, for the ledger, and what the sender says of the message itself. */
export interface Sender {
  readonly transport: 'http' | 'grpc' | 'grpc-web';
  readonly userAgent: string | undefined;
  /** The `Idempotency-Key` that names the message, checked; without one, its content may do so. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Takes reports in, whatever transport they came by. Resolves when the report is on disk.
 * @throws {ApiError} with the status and code of why not; nothing has changed then
 */
export interface ReportReceiver {
  /** What the memory of reports under way is taken from, and where large ones wait for their turn. */
  readonly bodies: LargeBodies;
  /** Refuses at once, before a body is read, while the service cannot take data. @throws {ApiError} */
  admit(): void;
  /** Charges a large report to its sender before it is decoded: see `chargeLarge`. @throws {ApiError} `rate_limited` */
  charge(glimpse: ReportGlimpse, bytes: number): string;
  /** @param bytes that the report came in, inflated */
  usage(report: UsageReport, sender: Sender, bytes: number): Promise<void>;
  metrics(report: MetricsReport, sender: Sender, bytes: number): Promise<void>;
  /** Tells the ledger of a report that was refused, by one of the above or before it came to them. */
  refused(refusal: ApiError, route: ReportRoute, sender: Sender, glimpse: ReportGlimpse): void;
}

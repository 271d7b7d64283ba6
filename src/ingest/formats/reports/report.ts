import { ApiError } from '../../../contract/errors.ts';
import { isName } from '../../../contract/names.ts';
import type { LedgerNote } from '../../../contract/notes.ts';
import { addNote, type Notes, pathText } from '../../omissions.ts';
import { checkName } from '../../sender-schemas.ts';

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
  readonly notes: ReadonlyMap<ReportNote, string | undefined>;
}

type ReportNote = Extract<
  LedgerNote,
  'name_dropped' | 'value_missing' | 'value_dropped' | 'time_zone_missing'
>;

export type ReportNotes = Notes<ReportNote>;

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

export type Report = UsageReport | MetricsReport;

export type SentHead = Omit<ReportHead, 'notes'>;

/**
 * The checked head of a report. An empty instance name counts as missing, and an invalid one is left out.
 * @param notes receives the notes on it
 * @throws {ApiError} of status 400 if the key or the environment is malformed; whether they exist is not checked here
 */
export function checkHead(sent: SentHead, notes: ReportNotes): SentHead {
  const { appKey, environment, instanceName } = sent;
  if (appKey === '' || appKey.length > 256) {
    throw new ApiError('invalid_body', 'appKey must be an application key of 1 to 256 characters');
  }
  checkName(environment, 'environment');
  if (!instanceName) return { ...sent, instanceName: undefined };
  if (isName(instanceName)) return sent;
  addNote(notes, 'name_dropped', 'instanceName');
  return { ...sent, instanceName: undefined };
}

/** The path of the first entry with an invalid name, by its names. */
export function invalidNameIn(report: Report): string | undefined {
  const entries =
    'variants' in report
      ? [...report.variants, ...report.users].map((entry) => [
          'stats',
          entry.feature,
          'variant' in entry && entry.variant,
        ])
      : report.values.map(({ metric, feature, variant }) => [metric, feature, variant]);
  const names = entries.map((path) => path.filter((name) => typeof name === 'string'));
  const invalid = names.find((path) => !path.every(isName));
  return invalid && pathText(invalid);
}

/** Numbers per entry: two or three names, then its counts, or its value and time. */
export const entryWidth = 5;

/** Numbers per user: the feature, then both halves of the hash. */
export const userWidth = 3;

/** Stands for a missing name, or for the environment in place of a feature. */
export const noName = -1;

/**
 * A report in a few arrays, which are transferred between threads without a copy. Objects and texts would be created again in
 * the receiving thread, all at once.
 */
export interface CondensedReport extends ReportHead {
  readonly kind: 'usage' | 'metrics';
  readonly appVersion: string | undefined;
  readonly statCount: number;
  /** Valid distinct names, as UTF-8. */
  readonly names: Uint8Array;
  readonly nameEnds: Uint32Array;
  /** Usage: feature, variant, checks, used, viewed. Metrics: metric, feature, variant, value, time. Names by index. */
  readonly entries: Float64Array;
  readonly users: Float64Array;
  /** See `contentSumOf`. */
  readonly contentSum: readonly [number, number];
  /** Cost of counting it, in entries. */
  readonly work: number;
}

import { createHash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import type { MetricsReport, ReportHead, UsageReport } from './report.ts';
import { RowSum } from './row-sum.ts';
import { hashReported } from './user-hash.ts';

/**
 * 128 bits that are the same for two messages exactly when the second repeats the first. They are taken from what a
 * message says and not from its bytes, so neither the transport nor the order of fields and entries matters.
 * Identities are kept on disk: what is hashed here must stay as it is, or a repetition across an update counts twice.
 */
export type MessageIdentity = Uint8Array;

/** Where a message belongs: the same text in two environments is two messages. */
export interface MessageScope {
  /** Number of the application. */
  readonly application: number;
  /** Number of the environment. */
  readonly environment: number;
}

/** The identity of a message whose sender has named it by an `Idempotency-Key`, for one route: `telemetry` and so on. */
export function identityOfKey(route: string, scope: MessageScope, key: string): MessageIdentity {
  return digest(scopeOf('key', route, scope) + key);
}

/** The identity of a usage report that its sender has not named. */
export function identityOfUsage(scope: MessageScope, report: UsageReport): MessageIdentity {
  const variants = new RowSum();
  for (const { feature, variant, checks, used, viewed } of report.variants) {
    variants.name(feature);
    variants.name(variant);
    variants.number(checks);
    variants.number(used);
    variants.number(viewed);
    variants.endRow();
  }
  const users = new RowSum();
  for (const { feature, hashes } of report.users) addUsers(users, feature, hashes);
  addUsers(users, undefined, report.environmentHashes);
  return digest(headOf('usage', scope, report, report.statCount) + lineOf(variants, users));
}

/** A row for each user: of a feature, or of the environment. */
function addUsers(rows: RowSum, feature: string | undefined, hashes: readonly string[]): void {
  for (const each of hashes) {
    rows.name(feature);
    rows.hash(hashReported(each));
    rows.endRow();
  }
}

/** The identity of a metrics report that its sender has not named. */
export function identityOfMetrics(scope: MessageScope, report: MetricsReport): MessageIdentity {
  const values = new RowSum();
  for (const { metric, feature, variant, value, time } of report.values) {
    values.name(metric);
    values.name(feature);
    values.name(variant);
    values.number(value);
    values.number(microseconds(time));
    values.endRow();
  }
  return digest(headOf('metrics', scope, report, report.statCount) + lineOf(values));
}

function scopeOf(how: string, route: string, { application, environment }: MessageScope): string {
  return line([how, route, application, environment]);
}

function headOf(route: string, scope: MessageScope, head: ReportHead, statCount: number): string {
  const { instanceName, processStartTime, time } = head;
  const started = processStartTime === undefined ? null : microseconds(processStartTime);
  const own = line([instanceName || null, started, microseconds(time), statCount]);
  return scopeOf('content', route, scope) + own;
}

type Row = readonly (string | number | null)[];

function lineOf(...sums: readonly RowSum[]): string {
  return line(sums.flatMap(({ count, total }) => [count, ...total]));
}

/** JSON has one spelling for each of these values and no line break in it, so lines never run into each other. */
function line(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

/** Times are told apart as finely as a double can. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

function digest(text: string): MessageIdentity {
  return Uint8Array.from(createHash('sha256').update(text).digest().subarray(0, 16));
}

const keyPattern = /^[ -~]{1,255}$/;

/**
 * The value of an `Idempotency-Key` header, if there is one.
 * @throws {Refusal} `invalid_idempotency_key`
 */
export function checkIdempotencyKey(value: string | undefined): string | undefined {
  if (value === undefined || keyPattern.test(value)) return value;
  throw new Refusal('invalid_idempotency_key', 'Send 1 to 255 printable ASCII characters, or leave it out');
}

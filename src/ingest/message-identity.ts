import { createHash, type Hash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import type { MetricsReport, ReportHead, UsageReport } from './report.ts';

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
  return digest(begin('key', route, scope).update(key));
}

/** The identity of a usage report that its sender has not named. */
export function identityOfUsage(scope: MessageScope, report: UsageReport): MessageIdentity {
  const hash = beginReport('usage', scope, report, report.statCount);
  addRows(
    hash,
    report.variants.map((row) => [row.feature, row.variant, row.checks, row.used, row.viewed]),
  );
  addRows(
    hash,
    report.users.map(({ feature, hashes }) => [feature, ...hashes.toSorted()]),
  );
  addRows(hash, [report.environmentHashes.toSorted()]);
  return digest(hash);
}

/** The identity of a metrics report that its sender has not named. */
export function identityOfMetrics(scope: MessageScope, report: MetricsReport): MessageIdentity {
  const hash = beginReport('metrics', scope, report, report.statCount);
  addRows(
    hash,
    report.values.map((row) => [
      row.metric,
      row.feature ?? null,
      row.variant ?? null,
      row.value,
      microseconds(row.time),
    ]),
  );
  return digest(hash);
}

function begin(how: string, route: string, { application, environment }: MessageScope): Hash {
  return createHash('sha256').update(line([how, route, application, environment]));
}

function beginReport(route: string, scope: MessageScope, head: ReportHead, statCount: number): Hash {
  const { instanceName, processStartTime, time } = head;
  const started = processStartTime === undefined ? null : microseconds(processStartTime);
  return begin('content', route, scope).update(
    line([instanceName || null, started, microseconds(time), statCount]),
  );
}

type Row = readonly (string | number | null)[];

/** Rows in an order of their own; the line before says how many there are, so two lists never run into each other. */
function addRows(hash: Hash, rows: readonly Row[]): void {
  hash.update(line([rows.length])).update(rows.map(line).sort().join(''));
}

/** JSON has one spelling for each of these values and no line break in it. */
function line(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

/** Times are told apart as finely as a double can. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

function digest(hash: Hash): MessageIdentity {
  return Uint8Array.from(hash.digest().subarray(0, 16));
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

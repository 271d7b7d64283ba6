import { createHash } from 'node:crypto';
import type { KeyHolder } from '../accounts/key-holder.ts';
import { ApiError } from '../errors.ts';
import type { Environment } from '../store/records.ts';
import { type Digest, digestWords } from './digest.ts';
import type { MetricsReport, ReportHead, UsageReport } from './report.ts';
import { RowSum } from './row-sum.ts';
import { hashReported } from './user-hash.ts';

/**
 * 128 bits that are the same for two messages exactly when the second repeats the first. They are taken from what a
 * message says and not from its bytes, so neither the transport nor the order of fields and entries matters. The first
 * words are the numbers of the application and of the key that sent the message, so no key can pass for another.
 * Identities are kept on disk: what is hashed here must stay as it is, or a repetition across an update counts twice.
 */
export type MessageIdentity = Digest;

/** Who sends a message: an application key, for one environment of its application. */
export interface MessageSender {
  readonly holder: KeyHolder;
  readonly environment: Pick<Environment, 'number'>;
}

/** The kinds of rows that make up a message. */
const usageHead = 1;
const metricsHead = 2;
const variantRow = 3;
const userRow = 4;
const valueRow = 5;

/**
 * The identity of a message whose sender has named it by an `Idempotency-Key`.
 * @param route `telemetry` and so on: keys of different routes are different
 */
export function identityOfKey(route: string, sender: MessageSender, key: string): MessageIdentity {
  const text = `${route} ${sender.environment.number} ${key}`;
  const [a, b] = digestWords(createHash('sha256').update(text).digest());
  return identityOf(sender, a, b);
}

function identityOf({ holder: { application, key } }: MessageSender, a: number, b: number): MessageIdentity {
  return [application.number, key.number, a, b];
}

/**
 * Whether the content of a report tells it from all others. Processes of one host that were started alike report alike
 * within one second, so that takes both when the process started and a time finer than a second.
 */
function isDistinct({ processStartTime, time }: ReportHead): boolean {
  return processStartTime !== undefined && time % 1000 !== 0;
}

/** The identity of a usage report that its sender has not named; `undefined` when its content does not tell. */
export function identityOfUsage(sender: MessageSender, report: UsageReport): MessageIdentity | undefined {
  if (!isDistinct(report)) return undefined;
  const rows = new RowSum();
  addHead(rows, usageHead, sender, report, report.statCount);
  for (const { feature, variant, checks, used, viewed } of report.variants) {
    rows.begin(variantRow);
    rows.name(feature);
    rows.name(variant);
    rows.word(checks);
    rows.word(used);
    rows.word(viewed);
    rows.end();
  }
  for (const { feature, hashes } of report.users) addUsers(rows, feature, hashes);
  addUsers(rows, undefined, report.environmentHashes);
  return identityOf(sender, ...rows.total);
}

/** A row for each user: of a feature, or of the environment. */
function addUsers(rows: RowSum, feature: string | undefined, hashes: readonly string[]): void {
  for (const each of hashes) {
    rows.begin(userRow);
    rows.name(feature);
    rows.hash(hashReported(each));
    rows.end();
  }
}

/** The identity of a metrics report that its sender has not named; `undefined` when its content does not tell. */
export function identityOfMetrics(sender: MessageSender, report: MetricsReport): MessageIdentity | undefined {
  if (!isDistinct(report)) return undefined;
  const rows = new RowSum();
  addHead(rows, metricsHead, sender, report, report.statCount);
  for (const { metric, feature, variant, value, time } of report.values) {
    rows.begin(valueRow);
    rows.name(metric);
    rows.name(feature);
    rows.name(variant);
    rows.number(value);
    rows.number(microseconds(time));
    rows.end();
  }
  return identityOf(sender, ...rows.total);
}

function addHead(
  rows: RowSum,
  kind: number,
  { environment }: MessageSender,
  { instanceName, processStartTime, time }: ReportHead,
  statCount: number,
): void {
  rows.begin(kind);
  rows.word(environment.number);
  rows.name(instanceName);
  rows.number(processStartTime === undefined ? Number.POSITIVE_INFINITY : microseconds(processStartTime));
  rows.number(microseconds(time));
  rows.word(statCount);
  rows.end();
}

/** Times are told apart as finely as a double can. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

const keyPattern = /^[ -~]{1,255}$/;

/**
 * The value of an `Idempotency-Key` header, if there is one.
 * @throws {ApiError} `invalid_idempotency_key`
 */
export function checkIdempotencyKey(value: string | undefined): string | undefined {
  if (value === undefined || keyPattern.test(value)) return value;
  throw new ApiError('invalid_idempotency_key', 'Send 1 to 255 printable ASCII characters, or leave it out');
}

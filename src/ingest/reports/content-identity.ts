import { isFinerThanMs } from '../../runtime/rfc3339.ts';
import { hashReported } from '../../storage/aggregate/user-hash.ts';
import { identityOf, type MessageIdentity, type MessageSender } from '../message-identity.ts';
import type { CondensedReport } from './condensed-report.ts';
import type { MetricsReport, Report, ReportHead, UsageReport } from './report.ts';
import { RowSum } from './row-sum.ts';

/** The kinds of rows in a message. */
const usageHead = 1;
const metricsHead = 2;
const variantRow = 3;
const userRow = 4;
const valueRow = 5;

/** The identity of an unnamed report, by its content. It is unique only if `isDistinct`. */
export function identityOfReport(sender: MessageSender, report: Report | CondensedReport): MessageIdentity {
  const { instanceName, processStartTime, time, statCount } = report;
  const rows = new RowSum();
  const condensed = 'contentSum' in report;
  const isUsage = condensed ? report.kind === 'usage' : 'variants' in report;
  rows.begin(isUsage ? usageHead : metricsHead);
  rows.word(sender.environment.number);
  rows.name(instanceName);
  if (processStartTime === undefined) rows.name(undefined);
  else rows.number(microseconds(processStartTime));
  rows.number(microseconds(time));
  rows.word(statCount);
  rows.end();
  if (condensed) rows.add(report.contentSum);
  else addContent(rows, report);
  return identityOf(sender, ...rows.total);
}

/** The sum of a report without its head: see `RowSum.total`. */
export function contentSumOf(report: Report): readonly [number, number] {
  const rows = new RowSum();
  addContent(rows, report);
  return rows.total;
}

function addContent(rows: RowSum, report: Report): void {
  if ('variants' in report) addUsage(rows, report);
  else addValues(rows, report);
}

/**
 * Whether the content distinguishes the report from all others of its sender. Forked processes may report alike within a
 * millisecond: same name, same start, same counts. A time finer than a millisecond is therefore required.
 */
export function isDistinct({ time }: ReportHead): boolean {
  return isFinerThanMs(time);
}

function addUsage(rows: RowSum, { variants, users, environmentHashes }: UsageReport): void {
  for (const { feature, variant, checks, used, viewed } of variants) {
    rows.begin(variantRow);
    rows.name(feature);
    rows.name(variant);
    rows.word(checks);
    rows.word(used);
    rows.word(viewed);
    rows.end();
  }
  for (const { feature, hashes } of users) addUsers(rows, feature, hashes);
  addUsers(rows, undefined, environmentHashes);
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

function addValues(rows: RowSum, { values }: MetricsReport): void {
  for (const { metric, feature, variant, value, time } of values) {
    rows.begin(valueRow);
    rows.name(metric);
    rows.name(feature);
    rows.name(variant);
    rows.number(value);
    rows.number(microseconds(time));
    rows.end();
  }
}

/** Times are distinguished as finely as a double can. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

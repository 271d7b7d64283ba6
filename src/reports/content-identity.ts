import { hashReported } from '../aggregate/user-hash.ts';
import { identityOf, type MessageIdentity, type MessageSender } from '../ingest/message-identity.ts';
import type { MetricsReport, Report, UsageReport } from './report.ts';
import { RowSum } from './row-sum.ts';

/** The kinds of rows that make up a message. */
const usageHead = 1;
const metricsHead = 2;
const variantRow = 3;
const userRow = 4;
const valueRow = 5;

/**
 * The identity of a report that its sender has not named. It is `undefined` when the content does not tell the report from
 * all others: processes of one host that were started alike report alike within one second, so that takes both when the
 * process started and a time finer than a second.
 */
export function identityOfReport(sender: MessageSender, report: Report): MessageIdentity | undefined {
  const { instanceName, processStartTime, time, statCount } = report;
  if (processStartTime === undefined || time % 1000 === 0) return undefined;
  const rows = new RowSum();
  rows.begin('variants' in report ? usageHead : metricsHead);
  rows.word(sender.environment.number);
  rows.name(instanceName);
  rows.number(microseconds(processStartTime));
  rows.number(microseconds(time));
  rows.word(statCount);
  rows.end();
  if ('variants' in report) addUsage(rows, report);
  else addValues(rows, report);
  return identityOf(sender, ...rows.total);
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

/** Times are told apart as finely as a double can. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

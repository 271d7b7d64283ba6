import { hashReported } from '../aggregate/user-hash.ts';
import { identityOf, type MessageIdentity, type MessageSender } from '../ingest/message-identity.ts';
import type { MetricsReport, ReportHead, UsageReport } from './report.ts';
import { RowSum } from './row-sum.ts';

/** The kinds of rows that make up a message. */
const usageHead = 1;
const metricsHead = 2;
const variantRow = 3;
const userRow = 4;
const valueRow = 5;

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

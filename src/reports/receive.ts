import { hashReported } from '../aggregate/user-hash.ts';
import type { Batch } from '../commit/batch.ts';
import type { EnvironmentSeries } from '../commit/series-dictionary.ts';
import { ApiError } from '../errors.ts';
import { admit, admitOf, chargeLarge, chargeSmall } from '../ingest/admission.ts';
import { countOnce } from '../ingest/count-once.ts';
import type { CountingDeps } from '../ingest/deps.ts';
import { identityOfKey, type MessageIdentity, type MessageSender } from '../ingest/message-identity.ts';
import type { LedgerSource } from '../ledger/ledger.ts';
import type { LedgerNote } from '../ledger/notes.ts';
import type { Retention } from '../store/retention.ts';
import { identityOfMetrics, identityOfUsage } from './content-identity.ts';
import type {
  MetricsReport,
  MetricValue,
  ReportGlimpse,
  ReportHead,
  ReportReceiver,
  ReportRoute,
  Sender,
  UsageReport,
} from './report.ts';
import { countedAt } from './time.ts';

export interface ReceiverDeps extends CountingDeps {
  readonly retention: Retention;
}

/** What a kind of report has of its own. */
interface Kind<Report> {
  readonly route: ReportRoute;
  identify(sender: MessageSender, report: Report): MessageIdentity | undefined;
  /** Adds all that the report says to a batch; `now` in Unix ms. */
  add(report: Report, series: EnvironmentSeries, batch: Batch, now: number): void;
}

/** The receiver of usage and metrics reports of every transport. */
export function createReportReceiver(parts: ReceiverDeps): ReportReceiver {
  const usage: Kind<UsageReport> = {
    route: 'usage',
    identify: identityOfUsage,
    add: (report, series, batch, now) => addUsage(report, series, batch, now, parts.retention),
  };
  const metrics: Kind<MetricsReport> = {
    route: 'metrics',
    identify: identityOfMetrics,
    add({ values }, series, batch, now) {
      for (const value of values) addValue(value, series, batch, now, parts.retention);
    },
  };
  return {
    bodies: parts.bodies,
    admit: () => admit(parts),
    usage: (report, ...how) => receive(parts, usage, report, ...how),
    charge: ({ appKey }, bytes) => chargeLarge(parts, appKey, bytes),
    metrics: (report, ...how) => receive(parts, metrics, report, ...how),
    refused(refusal, route, sender, glimpse) {
      const { appKey, environment } = glimpse;
      const holder = appKey === undefined ? undefined : parts.keys.findKey(appKey);
      parts.ledger.refused(refusal, sourceOf(route, sender, glimpse), { holder, environment });
    },
  };
}

/** Checked at once, in the order 404, 503, 429; then the report is counted, unless it was before. */
function receive<Report extends ReportHead>(
  parts: ReceiverDeps,
  kind: Kind<Report>,
  report: Report,
  sender: Sender,
  bytes: number,
): Promise<void> {
  const { holder, environment } = findEnvironment(parts, report);
  admitOf(parts, holder); // Others may have filled the queue while the report arrived.
  chargeSmall(parts, holder, bytes);
  parts.keys.markUsed(holder);
  const { application } = holder;
  const identity =
    sender.idempotencyKey === undefined
      ? kind.identify({ holder, environment }, report)
      : identityOfKey(kind.route, { holder, environment }, sender.idempotencyKey);
  const place = { ...sourceOf(kind.route, sender, report), application, environment };
  return countOnce(parts, identity, place, (batch) => {
    const { folded, dropped } = batch;
    kind.add(report, parts.dictionary.of(environment.number), batch, parts.clock.now());
    parts.ledger.accepted(place, batch);
    const notes = new Set<LedgerNote>(report.notes);
    if (batch.folded > folded) notes.add('series_folded');
    if (batch.dropped > dropped) notes.add('name_dropped');
    for (const note of notes) parts.ledger.noted(place, note, batch);
  });
}

function sourceOf(
  route: ReportRoute,
  { transport, userAgent }: Sender,
  { instanceName }: ReportGlimpse,
): LedgerSource {
  return { route, transport, userAgent, instance: instanceName };
}

/** Any type of key may report. @throws {ApiError} of status 404 */
function findEnvironment({ keys }: ReceiverDeps, { appKey, environment: name }: ReportHead) {
  const holder = keys.findKey(appKey);
  if (holder === undefined) throw new ApiError('unknown_key', 'appKey is not a key of any application');
  const environment = holder.environments.get(name);
  if (environment !== undefined) return { holder, environment };
  throw new ApiError('unknown_environment', 'environment is not one of the application; case matters');
}

function addUsage(
  { time, variants, users, environmentHashes }: UsageReport,
  series: EnvironmentSeries,
  batch: Batch,
  now: number,
  retention: Retention,
): void {
  const { bucket, minute } = countedAt(time, now, retention);
  for (const { feature, variant, checks, used, viewed } of variants) {
    const ref = series.variant(feature, variant, batch);
    if (ref !== undefined) batch.counts.add(ref, bucket, checks, used, viewed);
  }
  for (const { feature, hashes } of users) {
    const ref = series.feature(feature, batch);
    if (ref !== undefined) addUsers(hashes, [ref, series.whole], minute, batch);
  }
  addUsers(environmentHashes, [series.whole], minute, batch);
}

function addUsers(hashes: readonly string[], refs: readonly number[], minute: number, batch: Batch): void {
  for (const hash of hashes) {
    const { high, low } = hashReported(hash);
    for (const ref of refs) batch.users.add(ref, minute, high, low);
  }
}

function addValue(
  { metric, feature, variant, value, time }: MetricValue,
  series: EnvironmentSeries,
  batch: Batch,
  now: number,
  retention: Retention,
): void {
  const { bucket, at } = countedAt(time, now, retention);
  const ref =
    feature === undefined || variant === undefined
      ? series.metric(metric, batch)
      : series.featureMetric(metric, feature, variant, batch);
  if (ref !== undefined) batch.measurements.add(ref, bucket, value, at);
}

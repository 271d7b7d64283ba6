import type { KeyHolder } from '../accounts/key-holder.ts';
import { hashReported } from '../aggregate/user-hash.ts';
import type { Batch } from '../commit/batch.ts';
import type { EnvironmentSeries } from '../commit/series-dictionary.ts';
import { ApiError } from '../errors.ts';
import { countOnce } from '../ingest/count-once.ts';
import type { CountingDeps } from '../ingest/deps.ts';
import { identityOfKey } from '../ingest/message-identity.ts';
import type { PipelineDeps } from '../ingest/pipeline.ts';
import type { Asker } from '../ingest/senders.ts';
import type { LedgerSource } from '../ledger/ledger.ts';
import type { LedgerNote } from '../ledger/notes.ts';
import type { Environment } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import { identityOfReport } from './content-identity.ts';
import { countedAt } from './counted-at.ts';
import type { MetricsReport, MetricValue, Report, UsageReport } from './report.ts';

/** What counting reports needs of the rest of the service. */
export interface ReportDeps extends CountingDeps {
  readonly retention: Retention;
}

/** Who sent a report: an application key, for one environment of its application. */
export interface ReportSender {
  readonly holder: KeyHolder;
  readonly environment: Environment;
}

/** What taking in one kind of report takes, whatever brings it. */
export interface ReportKind<R extends Report> {
  readonly route: 'usage' | 'metrics';
  /** Any type of key may report. @throws {ApiError} of status 404 */
  resolve(report: R): ReportSender;
  /**
   * Counts a report, unless it was counted before. Resolves when it is on disk.
   * @param key its `Idempotency-Key`; without one its content may tell it from all others
   */
  count(report: R, sender: ReportSender, source: TransportSource, key: string | undefined): Promise<void>;
}

/** What the ledger knows a sender by. */
export type TransportSource = Pick<LedgerSource, 'transport' | 'userAgent'>;

/** Both kinds of report, and what their pipelines need. */
export interface ReportKinds {
  readonly deps: PipelineDeps;
  readonly usage: ReportKind<UsageReport>;
  readonly metrics: ReportKind<MetricsReport>;
}

/** The reports of every transport: what they are counted as. */
export function openReportKinds(deps: ReportDeps): ReportKinds {
  const { retention } = deps;
  return {
    deps,
    usage: kindOf(deps, 'usage', (report, ...batch) => addUsage(report, ...batch, retention)),
    metrics: kindOf(deps, 'metrics', ({ values }, ...batch) => {
      for (const value of values) addValue(value, ...batch, retention);
    }),
  };
}

/** @param add adds all that the report says to a batch; `now` in Unix ms */
function kindOf<R extends Report>(
  deps: ReportDeps,
  route: ReportKind<R>['route'],
  add: (report: R, series: EnvironmentSeries, batch: Batch, asker: Asker, now: number) => void,
): ReportKind<R> {
  const { dictionary, senders, clock, ledger } = deps;
  return {
    route,
    resolve: (report) => findSender(deps, report),
    count(report, sender, { transport, userAgent }, key) {
      const { holder, environment } = sender;
      const { application } = holder;
      const identity =
        key === undefined ? identityOfReport(sender, report) : identityOfKey(route, sender, key);
      const place = { route, transport, userAgent, instance: report.instanceName, application, environment };
      return countOnce(deps, identity, place, (batch) => {
        const { folded, dropped } = batch;
        const now = clock.now();
        const appVersion = 'appVersion' in report ? report.appVersion : undefined;
        const asker = senders.ofReport(
          batch,
          environment.number,
          { route, transport, userAgent, appVersion },
          now,
        );
        add(report, dictionary.of(environment.number), batch, asker, now);
        ledger.accepted(place, batch);
        for (const note of notesOf(report, batch.folded > folded, batch.dropped > dropped)) {
          ledger.noted(place, note, batch);
        }
      });
    },
  };
}

/** What the ledger notes of a report that was counted, each once. */
function notesOf({ notes }: Report, folded: boolean, dropped: boolean): Iterable<LedgerNote> {
  if (!folded && !dropped) return notes;
  const all = new Set<LedgerNote>(notes);
  if (folded) all.add('series_folded');
  if (dropped) all.add('name_dropped');
  return all;
}

function findSender({ keys }: ReportDeps, { appKey, environment: name }: Report): ReportSender {
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
  asker: Asker,
  now: number,
  retention: Retention,
): void {
  const { bucket, minute } = countedAt(time, now, retention);
  for (const { feature, variant, checks, used, viewed } of variants) {
    const ref = series.variant(feature, variant, batch);
    if (ref === undefined) continue;
    asker.asked(feature, ref, series, batch);
    batch.counts.add(ref, bucket, checks, used, viewed);
  }
  for (const { feature, hashes } of users) {
    const ref = series.feature(feature, batch);
    if (ref === undefined) continue;
    asker.asked(feature, ref, series, batch);
    addUsers(hashes, [ref, series.whole], minute, batch);
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
  asker: Asker,
  now: number,
  retention: Retention,
): void {
  const { bucket, at } = countedAt(time, now, retention);
  const ref =
    feature === undefined || variant === undefined
      ? series.metric(metric, batch)
      : series.featureMetric(metric, feature, variant, batch);
  if (ref === undefined) return;
  if (feature !== undefined) asker.asked(feature, ref, series, batch);
  batch.measurements.add(ref, bucket, value, at);
}

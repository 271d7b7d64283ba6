import type { KeyHolder } from '../../../accounts/key-index.ts';
import { Refusal } from '../../../contract/errors.ts';
import { hashReported } from '../../../storage/aggregate/user-hash.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import type { EnvironmentSeries } from '../../../storage/commit/series-dictionary.ts';
import type { Retention } from '../../../storage/lmdb/blocks.ts';
import type { Environment } from '../../../storage/lmdb/records.ts';
import { type CountingDeps, countOnce, identityOfKey, type Recognition } from '../../count-once.ts';
import { countedAt } from '../../counted-at.ts';
import type { LedgerSource } from '../../ledger/ledger.ts';
import { addNote, type Notes, recordNotes } from '../../omissions.ts';
import type { Decoder, PipelineDeps } from '../../pipeline.ts';
import type { Asker } from '../../senders.ts';
import { identityOfReport, isDistinct } from './content-identity.ts';
import type { FormatName } from './formats.ts';
import { type AddedNotes, LongReport } from './long-report.ts';
import {
  invalidNameIn,
  type MetricsReport,
  type MetricValue,
  type PackedReport,
  type Report,
  type ReportHead,
  type UsageReport,
} from './report.ts';

export interface ReportDeps extends CountingDeps {
  readonly retention: Retention;
  readonly decoder: Decoder<FormatName, PackedReport>;
}

export interface ReportSender {
  readonly holder: KeyHolder;
  readonly environment: Environment;
}

export interface ReportKind<R extends Report> {
  readonly route: 'usage' | 'metrics';
  /** Finds the sender of a report. Any type of key may report. @throws {Refusal} of status 404 */
  resolve(report: ReportHead): ReportSender;
  /** @param key the `Idempotency-Key`; without it, the content might identify the report */
  count(report: R | LongReport, sender: ReportSender, source: TransportSource, key: string | undefined): CountedReport;
  /** Prepares `count` in steps. @param nextStep resolves after other requests have been served */
  prepare(
    report: LongReport,
    sender: ReportSender,
    source: TransportSource,
    nextStep: () => Promise<void>,
  ): Promise<void>;
}

interface CountedReport {
  /** Resolves when the report is on disk. */
  readonly durable: Promise<void>;
  /** First entry that was left out: see `recordNotes`. */
  readonly omission: string | undefined;
}

export interface TransportSource extends Pick<LedgerSource, 'transport' | 'userAgent'> {
  readonly isRetry?: true;
}

export interface ReportKinds {
  readonly deps: PipelineDeps & Pick<ReportDeps, 'decoder'>;
  readonly usage: ReportKind<UsageReport>;
  readonly metrics: ReportKind<MetricsReport>;
}

export function openReportKinds(deps: ReportDeps): ReportKinds {
  const { retention } = deps;
  return {
    deps,
    usage: createKind(deps, 'usage', (report, ...batch) => addUsage(report, ...batch, retention)),
    metrics: createKind(deps, 'metrics', ({ values }, ...batch) => {
      let moved = false;
      for (const value of values) if (addValue(value, ...batch, retention)) moved = true;
      return moved;
    }),
  };
}

/**
 * @param add adds the whole report to a batch; `now` in Unix ms. Returns true if a value was counted at a time other
 * than its reported time
 */
function createKind<R extends Report>(
  deps: ReportDeps,
  route: ReportKind<R>['route'],
  add: (report: R, series: EnvironmentSeries, batch: Batch, asker: Asker, now: number) => boolean,
): ReportKind<R> {
  const { dictionary, senders, clock, ledger, retention } = deps;
  const findAsker = (
    batch: Pick<Batch, 'senders'>,
    { environment }: ReportSender,
    { transport, userAgent }: TransportSource,
    report: R | PackedReport,
  ) => {
    const appVersion = 'appVersion' in report ? report.appVersion : undefined;
    const source = { route, transport, userAgent, appVersion };
    return senders.ofReport(batch, environment.number, source, clock.now());
  };
  const addShort = (...[report, series, batch, asker, now]: Parameters<typeof add>): AddedNotes => {
    const { folded, dropped } = batch;
    const moved = add(report, series, batch, asker, now);
    return { time_moved: moved, series_folded: batch.folded > folded, name_dropped: batch.dropped > dropped };
  };
  const createPlaces = ({ environment }: ReportSender) => ({
    series: dictionary.of(environment.number),
    at: (time: number) => countedAt(time, clock.now(), retention),
  });
  return {
    route,
    resolve: (report) => findSender(deps, report),
    prepare: (report, sender, source, nextStep) =>
      report.prepare({
        ...createPlaces(sender),
        asker: (sink) => findAsker(sink, sender, source, report.report),
        nextStep,
        addBefore: (fill) => {
          const { number } = sender.holder.application;
          return deps.findLane(number).addBefore(number, fill);
        },
      }),
    count(message, sender, { isRetry = false, ...source }, key) {
      const report = message instanceof LongReport ? message.report : message;
      const { environment } = sender;
      const { application } = sender.holder;
      const recognition = createRecognition(route, sender, report, isRetry, key);
      const place = { route, ...source, instance: report.instanceName, application, environment };
      let omission: string | undefined;
      const durable = countOnce(deps, recognition, place, (batch) => {
        const asker = findAsker(batch, sender, source, report);
        const found =
          message instanceof LongReport
            ? message.addTo(batch, createPlaces(sender))
            : addShort(message, dictionary.of(environment.number), batch, asker, clock.now());
        ledger.accepted(place, batch);
        omission = recordNotes(ledger, place, listNotes(report, found), batch);
      });
      return { durable, omission };
    },
  };
}

/** @param isRetry true if the call is marked as a retry @param key the `Idempotency-Key` of the call */
function createRecognition(
  route: string,
  sender: ReportSender,
  report: Report | PackedReport,
  isRetry: boolean,
  key: string | undefined,
): Recognition {
  if (key !== undefined) return { identity: identityOfKey(route, sender, key), repeats: true };
  return { identity: identityOfReport(sender, report), repeats: isRetry || isDistinct(report) };
}

function listNotes(report: Report | PackedReport, found: AddedNotes): Notes {
  const notes: Notes = new Map(report.notes);
  if (found.name_dropped && !notes.has('name_dropped'))
    notes.set('name_dropped', 'kind' in report ? undefined : invalidNameIn(report));
  if (found.time_moved) addNote(notes, 'time_moved');
  if (found.series_folded) addNote(notes, 'series_folded');
  return notes;
}

function findSender({ keys }: ReportDeps, { appKey, environment: name }: ReportHead): ReportSender {
  const holder = keys.findKey(appKey);
  if (holder === undefined) throw new Refusal('unknown_key', 'appKey is not a key of any application');
  const environment = holder.environments.get(name);
  if (environment !== undefined) return { holder, environment };
  throw new Refusal('unknown_environment', 'environment must name an environment of the application; case matters');
}

function addUsage(
  { time, variants, users, environmentHashes }: UsageReport,
  series: EnvironmentSeries,
  batch: Batch,
  asker: Asker,
  now: number,
  retention: Retention,
): boolean {
  const { bucket, minute, moved } = countedAt(time, now, retention);
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
  return moved;
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
): boolean {
  const { bucket, at, moved } = countedAt(time, now, retention);
  const ref =
    feature === undefined || variant === undefined
      ? series.metric(metric, batch)
      : series.featureMetric(metric, feature, variant, batch);
  if (ref === undefined) return false;
  if (feature !== undefined) asker.asked(feature, ref, series, batch);
  batch.measurements.add(ref, bucket, value, at);
  return moved;
}

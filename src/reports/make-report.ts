import type { Overview } from '../contract/shapes/overview.ts';
import { type JsonBytes, jsonBytes } from '../http/responses.ts';
import { UserUnions } from '../storage/aggregate/unique-users.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import { type ScanTask, scan, type UsageTables } from '../storage/lmdb/usage.ts';
import type { WatchTask } from '../webhooks/findings.ts';
import { ActivityFeed, type ActivityTask } from './activity/report.ts';
import { type ComparisonTask, comparisonReport } from './experiments/comparison-report.ts';
import { type ExperimentTask, experimentReport } from './experiments/experiment-report.ts';
import { type PowerTask, powerReport } from './experiments/power-report.ts';
import { SplitCache, type SplitsTask } from './experiments/split-report.ts';
import { HomeFigures, type HomeTask } from './home-report.ts';
import { NameIndex, type NamesTask } from './name-index.ts';
import { OverviewBases } from './overview/overview-counts.ts';
import {
  type OverviewTask,
  type OverviewUsersTask,
  overviewReport,
  overviewUsersReport,
} from './overview/overview-report.ts';
import { type PackedJson, packJson } from './shared-results.ts';
import { describeFreshness } from './usage/freshness.ts';
import { type LedgerTask, ledgerReport } from './usage/ledger-report.ts';
import {
  type MeasurementsTask,
  type MetricsTask,
  measurementsReport,
  metricsReport,
} from './usage/measurements-report.ts';
import { type MonthTask, monthUsage, type PrometheusTask, prometheusReport } from './usage/month-usage.ts';
import { FeatureIndex, type SightTask } from './usage/sights.ts';
import { type UsageTask, usageReport } from './usage/usage-report.ts';
import { type CleanupTask, cleanupReport } from './verdicts/cleanup-report.ts';
import { type FeaturesTask, featuresReport } from './verdicts/features-report.ts';
import { type FindingsTask, findingsReport, watchReport } from './verdicts/findings.ts';
import { type SendersTask, sendersReport } from './verdicts/senders-report.ts';
import { type VerdictTask, verdictReport } from './verdicts/verdict-report.ts';
import { Verdicts } from './verdicts/verdicts.ts';

/** Every report by name. The results for responses of the API are already UTF-8 JSON. */
export type Reports = ReturnType<typeof createReports>;

export type ReportResult<Name extends keyof Reports> =
  ReturnType<Reports[Name]> extends Reading<infer T> ? Awaited<T> : never;

/** Creates the reports of a store, and the scan for damage. */
export function createReports(store: UsageTables) {
  const verdicts = new Verdicts(store);
  const bases = new OverviewBases(store);
  const unions = new UserUnions(store);
  const figures = new HomeFigures(store);
  const names = new NameIndex(store);
  const features = new FeatureIndex(store);
  const splits = new SplitCache(store, unions);
  const feed = new ActivityFeed(store);
  return {
    usage: (task: UsageTask) =>
      inJson(through(task, usageReport(store, task.environment, task.range, task.only, unions))),
    measurements: (task: MeasurementsTask) =>
      inJson(through(task, measurementsReport(store, task.environment, task.range, task.only, task.gauges))),
    features: (task: FeaturesTask) => inJson(featuresReport(store, task)),
    metrics: (task: MetricsTask) => inJson(metricsReport(store, task)),
    ledger: (task: LedgerTask) => inJson(ledgerReport(store, task)),
    senders: (task: SendersTask) => sendersReport(store, task),
    cleanup: (task: CleanupTask) => cleanupReport(store, verdicts, task),
    verdict: (task: VerdictTask) => verdictReport(store, task),
    sights: (task: SightTask) => features.sights(task),
    overview: (task: OverviewTask) => packed(task, overviewReport(store, { verdicts, bases, splits }, task)),
    overviewUsers: (task: OverviewUsersTask) => inJson(overviewUsersReport(store, unions, task)),
    monthUsage: (task: MonthTask) => monthUsage(store, task),
    prometheus: (task: PrometheusTask) => prometheusReport(store, task),
    experiment: (task: ExperimentTask) => experimentReport(store, unions, task),
    power: (task: PowerTask) => powerReport(store, unions, task),
    splits: (task: SplitsTask) => splits.of(task),
    activity: (task: ActivityTask) => inJson(feed.page(task)),
    comparison: (task: ComparisonTask) => inJson(comparisonReport(store, unions, task)),
    home: (task: HomeTask) => figures.read(task),
    names: (task: NamesTask) => names.find(task),
    findings: (task: FindingsTask) => findingsReport(store, { verdicts, splits }, task),
    watch: (task: WatchTask) => watchReport(store, task),
    scan: (task: ScanTask) => scan(store, task),
  };
}

/** Adds the freshness of the counts to a report. */
function* through<T>({ fresh }: UsageTask, reading: Reading<T>): Reading<T> {
  return { ...(yield* reading), ...describeFreshness(fresh) };
}

/** Encodes a result as bytes, which are transferred to another thread without a copy, and sent unchanged. */
function* inJson<T>(reading: Reading<T>): Reading<JsonBytes<T>> {
  return jsonBytes(yield* reading);
}

function* packed({ fresh }: OverviewTask, reading: Reading<Overview>): Reading<PackedJson> {
  return packJson(yield* reading, fresh);
}

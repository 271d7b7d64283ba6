import type { Environment } from '../store/records.ts';
import type { UsageStore } from '../store/usage.ts';
import { type FeaturesTask, featuresReport, type SightTask, sightOf } from './features-report.ts';
import { measurementsReport } from './measurements-report.ts';
import { type MetricsTask, metricsReport } from './metrics-report.ts';
import type { ReportRange } from './report-range.ts';
import { usageReport } from './usage-report.ts';

/** What a report of usage is asked for. */
export interface UsageTask {
  readonly environment: Environment;
  readonly range: ReportRange;
  /** The one feature or metric to report; every one when undefined. */
  readonly only: string | undefined;
}

/** What a report of measurements is asked for. */
export interface MeasurementsTask extends UsageTask {
  /** Names of the application's metrics that are declared as gauges. */
  readonly gauges: ReadonlySet<string>;
}

/** Every kind of report: what it is asked for, and what it gives, which is JSON where it goes out as it is. */
export type Reports = ReturnType<typeof createReports>;

/** The reports of a store. */
export function createReports(store: UsageStore) {
  return {
    usage: ({ environment, range, only }: UsageTask) =>
      JSON.stringify(usageReport(store, environment, range, only)),
    measurements: ({ environment, range, only, gauges }: MeasurementsTask) =>
      JSON.stringify(measurementsReport(store, environment, range, only, gauges)),
    features: (task: FeaturesTask) => JSON.stringify(featuresReport(store, task)),
    metrics: (task: MetricsTask) => JSON.stringify(metricsReport(store, task)),
    sight: (task: SightTask) => sightOf(store, task),
  };
}

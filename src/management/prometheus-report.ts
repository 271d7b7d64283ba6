import { expositionText, type ServiceMetric } from '../http/exposition.ts';
import type { Counts } from '../storage/lmdb/cells.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { type MonthTask, type MonthUsage, monthUsage } from './month-usage.ts';

export interface PrometheusTask extends MonthTask {
  /** Names of the metrics that are declared as gauges. */
  readonly gauges: ReadonlySet<string>;
}

/** What an application has counted in this month, in Prometheus' text format. */
export function* prometheusReport(store: UsageTables, task: PrometheusTask): Reading<Promise<string>> {
  return expositionText(metricsOf(yield* monthUsage(store, task), task.gauges));
}

function metricsOf(
  { features, metrics, leftOut }: MonthUsage,
  gauges: ReadonlySet<string>,
): readonly ServiceMetric[] {
  const counted = (field: keyof Counts, help: string): ServiceMetric => ({
    name: `flagmeter_feature_${field}_total`,
    type: 'counter',
    help: `${help} Restarts at 0 each month (UTC).`,
    read: () => features.map(({ labels, value }) => [labels, value[field]] as const),
  });
  const measured = (kind: 'counter' | 'gauge') =>
    metrics.filter(({ labels }) => gauges.has(labels['metric'] ?? '') === (kind === 'gauge'));
  return [
    counted('checks', 'How often a variant was asked for.'),
    counted('used', 'How often a variant was used.'),
    counted('viewed', 'How often a variant was seen.'),
    {
      name: 'flagmeter_metric_total',
      type: 'counter',
      help: 'Sum of the values of a counter. Restarts at 0 each month (UTC).',
      read: () => measured('counter').map(({ labels, value }) => [labels, value.sum] as const),
    },
    {
      name: 'flagmeter_metric',
      type: 'gauge',
      help: 'The last number of a gauge that was measured in this month.',
      read: () => measured('gauge').map(({ labels, value }) => [labels, value.last] as const),
    },
    {
      name: 'flagmeter_series_left_out',
      type: 'gauge',
      help: 'Series that are not shown, because there are too many; those that count most are shown.',
      read: () => Object.entries(leftOut).map(([of, count]) => [{ of }, count] as const),
    },
  ];
}

import { type Attributes, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { Labels } from '../../http/exposition.ts';
import type { MonthUsage } from '../../management/month-usage.ts';
import type { Application } from '../../storage/lmdb/records.ts';

/** The counts of an application in a period (Unix ms). */
interface PushedUsage {
  readonly application: Pick<Application, 'id' | 'name' | 'teamId'>;
  readonly usage: MonthUsage;
  readonly gauges: ReadonlySet<string>;
  readonly since: number;
  readonly at: number;
}

/**
 * Usage as OpenTelemetry metrics. Sums are cumulative from the beginning of the month. No attribute names the sending machine,
 * so that a point that two machines send counts once.
 */
export function usageMetrics({ application, usage, gauges, since, at }: PushedUsage): ResourceMetrics {
  const { id, name, teamId } = application;
  const resource = resourceFromAttributes({
    'service.name': 'flagmeter',
    'flagmeter.application.id': id,
    'flagmeter.application.name': name,
    'flagmeter.team.id': teamId,
  });
  const span = { startTime: millisToHrTime(since), endTime: millisToHrTime(at) };
  const { features, metrics, leftOut } = usage;
  const points = <Value>(
    rows: readonly { readonly labels: Labels; readonly value: Value }[],
    figure: (value: Value) => number,
  ) => rows.map(({ labels, value }) => ({ ...span, attributes: attributesOf(labels), value: figure(value) }));
  const counted = (field: 'checks' | 'used' | 'viewed', description: string) =>
    sum(
      `flagmeter.feature.${field}`,
      description,
      points(features, (value) => value[field]),
      true,
    );
  const isGauge = ({ labels: { metric = '' } }: { readonly labels: Labels }) => gauges.has(metric);
  const sums = metrics.filter((row) => !isGauge(row));
  const all = [
    counted('checks', 'Checks of a variant.'),
    counted('used', 'Uses of a variant.'),
    counted('viewed', 'Views of a variant.'),
    // A counter may be given negative values.
    sum(
      'flagmeter.metric.sum',
      'Sum of the values of a counter.',
      points(sums, (value) => value.sum),
      false,
    ),
    gauge(
      'flagmeter.metric.last',
      'Last value of a gauge.',
      points(metrics.filter(isGauge), (value) => value.last),
    ),
    gauge(
      'flagmeter.series_left_out',
      'Series that are not sent because there are too many.',
      Object.entries(leftOut).map(([of, value]) => ({ ...span, attributes: { of }, value })),
    ),
  ];
  const kept = all.filter(({ dataPoints }) => dataPoints.length > 0);
  return { resource, scopeMetrics: [{ scope: { name: 'flagmeter' }, metrics: kept }] };
}

/** Labels by the names of OpenTelemetry's semantic conventions. */
const conventions: Readonly<Record<string, string>> = {
  environment: 'deployment.environment.name',
  feature: 'feature_flag.key',
  variant: 'feature_flag.result.variant',
  metric: 'flagmeter.metric.name',
};

function attributesOf(labels: Labels): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [conventions[name]!, value]));
}

type Points = DataPoint<number>[];

function sum(name: string, description: string, points: Points, isMonotonic: boolean): MetricData {
  return { ...gauge(name, description, points), dataPointType: DataPointType.SUM, isMonotonic };
}

function gauge(name: string, description: string, dataPoints: Points) {
  return {
    descriptor: { name, description, unit: '1', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.GAUGE,
    dataPoints,
  } satisfies MetricData;
}

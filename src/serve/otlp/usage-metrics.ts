import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
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

/** What was counted of an application, from when until when (Unix ms). */
export interface PushedUsage {
  readonly application: Pick<Application, 'id' | 'name' | 'teamId'>;
  readonly usage: MonthUsage;
  readonly gauges: ReadonlySet<string>;
  readonly since: number;
  readonly at: number;
}

/**
 * Usage as OpenTelemetry has it. Sums are cumulative from the beginning of the month, and nothing names the machine that sends them:
 * the same point that comes from two machines is one point, and counts once.
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
  const counted = (field: 'checks' | 'used' | 'viewed', description: string) =>
    sum(
      `flagmeter.feature.${field}`,
      description,
      features.map(({ labels, value }) => pointOf(span, labels, value[field])),
      true,
    );
  const isGauge = ({ metric = '' }: Labels) => gauges.has(metric);
  const sums = metrics.filter(({ labels }) => !isGauge(labels));
  const lasts = metrics.filter(({ labels }) => isGauge(labels));
  const all: MetricData[] = [
    counted('checks', 'How often a variant was asked for.'),
    counted('used', 'How often a variant was used.'),
    counted('viewed', 'How often a variant was seen.'),
    // What a counter measures may be negative.
    sum(
      'flagmeter.metric.sum',
      'The sum of what was measured of a counter.',
      sums.map(({ labels, value }) => pointOf(span, labels, value.sum)),
      false,
    ),
    gauge(
      'flagmeter.metric.last',
      'The last number of a gauge.',
      lasts.map(({ labels, value }) => pointOf(span, labels, value.last)),
    ),
    gauge(
      'flagmeter.series_left_out',
      'Series that are not sent, because there are too many.',
      Object.entries(leftOut).map(([of, count]) => ({ ...span, attributes: { of }, value: count })),
    ),
  ];
  const kept = all.filter(({ dataPoints }) => dataPoints.length > 0);
  return { resource, scopeMetrics: [{ scope: { name: 'flagmeter' }, metrics: kept }] };
}

interface Span {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

function pointOf(span: Span, labels: Labels, value: number): DataPoint<number> {
  return { ...span, attributes: attributesOf(labels), value };
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

function descriptorOf(name: string, description: string) {
  return { name, description, unit: '1', valueType: ValueType.DOUBLE };
}

function sum(
  name: string,
  description: string,
  dataPoints: DataPoint<number>[],
  isMonotonic: boolean,
): MetricData {
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  const descriptor = descriptorOf(name, description);
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic, dataPoints };
}

function gauge(name: string, description: string, dataPoints: DataPoint<number>[]): MetricData {
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  const descriptor = descriptorOf(name, description);
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints };
}

import { setTimeout as pause } from 'node:timers/promises';
import { type Attributes, ValueType } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, millisToHrTime } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { Directory } from '../../accounts/directory.ts';
import type { Labels } from '../../http/exposition.ts';
import type { ReportPool } from '../../reports/report-pool.ts';
import { type MonthUsage, startOfMonth } from '../../reports/usage/month-usage.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { UsageStore, UsageStoreStatus } from '../../storage/commit/usage-store.ts';
import type { Application } from '../../storage/lmdb/records.ts';

export interface PushDeps {
  readonly directory: Directory;
  readonly reports: ReportPool;
  readonly usageStore: Pick<UsageStore, 'status' | 'freshen'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends the usage of every application, one after another. */
export class UsagePush {
  readonly #core: PushDeps;
  readonly #exporter: Pick<PushMetricExporter, 'export'>;
  #isFailing = false;

  constructor(core: PushDeps, exporter: Pick<PushMetricExporter, 'export'>) {
    this.#core = core;
    this.#exporter = exporter;
  }

  start(everyMs: number): () => Promise<void> {
    const stopping = new AbortController();
    const { signal } = stopping;
    const work = (async () => {
      while (await pause(everyMs, true, { signal, ref: false }).catch(() => false)) await this.#round(signal);
    })();
    return () => {
      stopping.abort();
      return work;
    };
  }

  /** Sends the usage of all applications once if this machine is the sender: see `isSender`. */
  async round(): Promise<void> {
    const { usageStore, directory } = this.#core;
    if (!isSender(usageStore.status())) return;
    await usageStore.freshen();
    for (const application of directory.applications.values()) await this.#push(application);
  }

  /** Sends the usage of all applications. Logs the first of several consecutive failures, and the recovery. */
  async #round(signal: AbortSignal): Promise<void> {
    const { log } = this.#core;
    try {
      await this.round();
      if (this.#isFailing) log.info('sending usage to the collector works again');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !signal.aborted) log.warn('sending usage to the collector failed; retrying', { error });
      this.#isFailing = true;
    }
  }

  async #push(application: Application): Promise<void> {
    const { reports, clock, directory } = this.#core;
    const at = clock.now();
    const since = startOfMonth(at);
    const range = { from: since / 60_000, to: Math.ceil((at + 1) / 60_000), step: 'day' } as const;
    const { id, teamId, environments } = application;
    const usage = await reports.make(teamId, 'monthUsage', { environments, range });
    const gauges = new Set(
      [...directory.getMetrics(id).values()].filter(({ kind }) => kind === 'gauge').map(({ name }) => name),
    );
    await this.#send(usageMetrics({ application, usage, gauges, since, at }));
  }

  #send(metrics: ResourceMetrics): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#exporter.export(metrics, ({ code, error }: ExportResult) => {
        if (code === ExportResultCode.SUCCESS) resolve();
        else reject(error ?? new Error('The collector refused the usage'));
      });
    });
  }
}

/**
 * True if this machine sends usage. All nodes have the same counts, so only the connected node with the lowest
 * directory id sends. Two nodes, or none, can briefly be the sender. This loses nothing, because sums are cumulative.
 */
export function isSender(status: Pick<UsageStoreStatus, 'directory' | 'postgres' | 'nodes'> | undefined): boolean {
  if (status === undefined) return true;
  if (!status.postgres.connected) return false;
  const up = status.nodes.filter(({ state }) => state === 'up').map(({ directory }) => directory);
  return up.sort()[0] === status.directory;
}

interface PushedUsage {
  readonly application: Pick<Application, 'id' | 'name' | 'teamId'>;
  readonly usage: MonthUsage;
  readonly gauges: ReadonlySet<string>;
  readonly since: number;
  readonly at: number;
}

/**
 * Usage as OpenTelemetry metrics. Sums are cumulative from the beginning of the month. No attribute identifies the
 * sending machine, so a point that two machines send counts once.
 */
function usageMetrics({ application, usage, gauges, since, at }: PushedUsage): ResourceMetrics {
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
  ) => rows.map(({ labels, value }) => ({ ...span, attributes: createAttributes(labels), value: figure(value) }));
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
    // The sum is not monotonic, because a custom counter can receive negative values.
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

/** Attribute names of OpenTelemetry's semantic conventions, by the label names of flagmeter. */
const conventions: Readonly<Record<string, string>> = {
  environment: 'deployment.environment.name',
  feature: 'feature_flag.key',
  variant: 'feature_flag.result.variant',
  metric: 'flagmeter.metric.name',
};

function createAttributes(labels: Labels): Attributes {
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

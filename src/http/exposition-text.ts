import type { Metric } from 'prom-client';
import type { Histogram } from '../runtime/histogram.ts';

/** The labels of a value. Never contains text of an unauthenticated sender. */
export type Labels = Readonly<Record<string, string>>;

/** One value, or a value for each set of labels. */
export type Readings<Value> = Value | Iterable<readonly [labels: Labels, value: Value]>;

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A metric of the service itself. It is read on scrape and costs nothing otherwise. */
export type ServiceMetric =
  /** A counter only increases, and its name ends in `_total`. */
  | (Described & { readonly type: 'counter' | 'gauge'; read(): Readings<number> })
  | (Described & { readonly type: 'histogram'; read(): Readings<Histogram> });

/** The content type of the text. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** A value in prom-client's format. */
interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Metrics in Prometheus' text format, version 0.0.4, written by prom-client. Its own counters and histograms are not used: the
 * hot path counts in arrays of integers. A registry asks a metric only for its name and values.
 */
export async function expositionText(metrics: readonly ServiceMetric[]): Promise<string> {
  // Loaded on the first scrape, so that it does not delay startup.
  const { Registry } = await import('prom-client');
  const registry = new Registry();
  for (const metric of metrics) {
    const { name, help, type } = metric;
    const asked = { name, get: () => ({ name, help, type, values: samplesOf(metric) }) };
    registry.registerMetric(asked as unknown as Metric);
  }
  return registry.metrics();
}

function samplesOf(metric: ServiceMetric): readonly Sample[] {
  const { name } = metric;
  if (metric.type === 'histogram')
    return each(metric.read()).flatMap(([labels, histogram]) => samplesOfHistogram(name, labels, histogram));
  return each(metric.read()).map(([labels, value]) => ({ metricName: name, labels, value }));
}

function each<Value extends number | Histogram>(
  readings: Readings<Value>,
): readonly (readonly [Labels, Value])[] {
  const isMany = typeof readings === 'object' && Symbol.iterator in readings;
  return isMany ? Array.from(readings) : [[{}, readings as Value]];
}

/** Buckets are cumulative. */
function samplesOfHistogram(name: string, labels: Labels, histogram: Histogram): readonly Sample[] {
  const { counts, count, sum } = histogram.read();
  let below = 0;
  const bucket = (le: string | number, value: number) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le },
    value,
  });
  const buckets = histogram.bounds.map((bound, at) => {
    below += counts[at]!;
    return bucket(bound, below);
  });
  return [
    ...buckets,
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

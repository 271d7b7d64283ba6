import type { Metric } from 'prom-client';
import { Refusal } from '../contract/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Histogram } from '../runtime/histogram.ts';
import type { Group } from './endpoint.ts';
import { problem } from './responses.ts';
import type { Request } from './types.ts';

interface ExpositionDeps {
  readonly metrics: readonly ServiceMetric[];
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly mayRead: (request: Request) => boolean;
  /** Resolves when the metrics are current. */
  readonly settle?: () => Promise<void>;
}

/** Content type of Prometheus' text format. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

const headers = { 'content-type': expositionType, 'cache-control': 'no-store' };

const elsewhere = problem(
  new Refusal(
    'not_found',
    'On this listener, only clients on the same machine may read /metrics, and not through a proxy; --ops-listen opens a separate listener for it',
  ),
);

/** Lifetime of a cached text, ms. */
const freshMs = 1_000;

export const exposition: Group<ExpositionDeps> = {
  tag: 'Exposition',
  description: "The service's own metrics.",
  endpoints: [
    {
      method: 'GET',
      path: '/metrics',
      access: {
        credential: 'None',
        who: 'Anyone who reaches the listener of `--ops-listen`; without the setting, clients on the same machine',
      },
      bind({ metrics, clock, mayRead, settle = async () => {} }) {
        const textNow = shared(() => settle().then(() => expositionText(metrics)), clock);
        return async (request) => (mayRead(request) ? { status: 200, headers, body: await textNow() } : elsewhere);
      },
    },
  ],
};

/** Builds a text at most once a second. Concurrent requests share the text. A failure is not cached. */
function shared(make: () => Promise<string>, clock: Pick<Clock, 'monotonic'>): () => Promise<string> {
  let text: Promise<string> | undefined;
  let madeAt = 0;
  return () => {
    if (text !== undefined && clock.monotonic() < madeAt + freshMs) return text;
    madeAt = clock.monotonic();
    const made = make();
    text = made;
    made.catch(() => {
      if (text === made) text = undefined;
    });
    return made;
  };
}

/** Labels of a value. They never contain text of an unauthenticated sender. */
export type Labels = Readonly<Record<string, string>>;

type Readings<Value> = Value | Iterable<readonly [labels: Labels, value: Value]>;

interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A metric of the service itself. The metric is read on each scrape and costs nothing otherwise. */
export type ServiceMetric =
  /** A counter only increases, and its name ends in `_total`. */
  | (MetricDescription & { readonly type: 'counter' | 'gauge'; read(): Readings<number> })
  | (MetricDescription & { readonly type: 'histogram'; read(): Readings<Histogram> });

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Returns metrics in Prometheus' text format. The registry of prom-client formats the names and values. The counters
 * and histograms of prom-client are not used, because the hot path counts in arrays of integers.
 */
export async function expositionText(metrics: readonly ServiceMetric[]): Promise<string> {
  // Loaded on the first scrape, so that it does not delay startup.
  const { Registry } = await import('prom-client');
  const registry = new Registry();
  for (const metric of metrics) {
    const { name, help, type } = metric;
    const asked = { name, get: () => ({ name, help, type, values: listSamples(metric) }) };
    registry.registerMetric(asked as unknown as Metric);
  }
  return registry.metrics();
}

function listSamples(metric: ServiceMetric): readonly Sample[] {
  const { name } = metric;
  if (metric.type === 'histogram')
    return each(metric.read()).flatMap(([labels, histogram]) => samplesOfHistogram(name, labels, histogram));
  return each(metric.read()).map(([labels, value]) => ({ metricName: name, labels, value }));
}

function each<Value extends number | Histogram>(readings: Readings<Value>): readonly (readonly [Labels, Value])[] {
  const isMany = typeof readings === 'object' && Symbol.iterator in readings;
  return isMany ? Array.from(readings) : [[{}, readings as Value]];
}

/** Returns the samples of a histogram. Buckets are cumulative. */
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

import type { Registry } from 'prom-client';
import type { Group } from './endpoint.ts';

/** One value, or a value for each set of labels. A label never holds what a stranger sent. */
export type Readings = number | Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

/** A metric of the service itself. It is read when it is scraped and costs nothing otherwise. */
export interface ServiceMetric {
  readonly name: string;
  /** A counter only grows, and its name ends in `_total`. */
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labels?: readonly string[];
  read(): Readings;
}

/** `GET /metrics`: the service's own metrics in Prometheus' text format. */
export const exposition: Group<readonly ServiceMetric[]> = {
  tag: 'Exposition',
  description: "The service's own metrics.",
  endpoints: [
    {
      method: 'GET',
      path: '/metrics',
      access: { credential: 'None', who: 'Everybody who reaches the base host' },
      bind(metrics) {
        let registry: Promise<Registry> | undefined;
        return async () => {
          registry ??= register(metrics);
          const registered = await registry;
          return {
            status: 200,
            headers: { 'content-type': registered.contentType, 'cache-control': 'no-store' },
            body: await registered.metrics(),
          };
        };
      },
    },
  ],
};

/** The library is loaded with the first request, so that it does not delay the start. */
async function register(metrics: readonly ServiceMetric[]): Promise<Registry> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const { name, type, help, labels = [], read } of metrics) {
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === 'gauge') {
      new Gauge({ ...options, collect: collectWith((gauge, ...reading) => gauge.set(...reading), read) });
    } else {
      new Counter({
        ...options,
        collect: collectWith((counter, ...reading) => counter.inc(...reading), read),
      });
    }
  }
  return registry;
}

/** Makes the function that sets a metric to its readings at each scrape. */
function collectWith<Metric extends { reset(): void }>(
  set: (metric: Metric, labels: Record<string, string>, value: number) => void,
  read: ServiceMetric['read'],
) {
  return function collect(this: Metric): void {
    this.reset();
    const readings = read();
    if (typeof readings === 'number') set(this, {}, readings);
    else for (const [labels, value] of readings) set(this, labels, value);
  };
}

import type { Registry } from 'prom-client';
import type { Reply, Route } from './types.ts';

/** One value, or a value for each set of labels. A label never holds what a stranger sent. */
export type Readings = number | Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

/** A figure of the service's own, which is read when it is asked for and costs nothing otherwise. */
export interface Figure {
  readonly name: string;
  /** A counter only ever grows, and its name ends in `_total`. */
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labels?: readonly string[];
  read(): Readings;
}

/** `GET /metrics`: figures in the text format of Prometheus. */
export function figuresRoute(figures: readonly Figure[]): Route {
  let registry: Promise<Registry> | undefined;
  return {
    method: 'GET',
    path: '/metrics',
    async handle(): Promise<Reply> {
      registry ??= register(figures);
      const { contentType, metrics } = await registry.then(async (registered) => ({
        contentType: registered.contentType,
        metrics: await registered.metrics(),
      }));
      return {
        status: 200,
        headers: { 'content-type': contentType, 'cache-control': 'no-store' },
        body: metrics,
      };
    },
  };
}

/** The library is loaded with the first request: a start does not wait for it. */
async function register(figures: readonly Figure[]): Promise<Registry> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const { name, type, help, labels = [], read } of figures) {
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === 'gauge') {
      new Gauge({ ...options, collect: show((gauge, ...reading) => gauge.set(...reading), read) });
    } else {
      new Counter({ ...options, collect: show((counter, ...reading) => counter.inc(...reading), read) });
    }
  }
  return registry;
}

/** Sets a metric to what is read, whenever it is asked for. */
function show<Metric extends { reset(): void }>(
  set: (metric: Metric, labels: Record<string, string>, value: number) => void,
  read: Figure['read'],
) {
  return function collect(this: Metric): void {
    this.reset();
    const readings = read();
    if (typeof readings === 'number') set(this, {}, readings);
    else for (const [labels, value] of readings) set(this, labels, value);
  };
}

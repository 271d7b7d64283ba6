import type { ServiceMetric } from '../http/exposition.ts';
import type { Histogram } from '../runtime/histogram.ts';

/** A value for each value of one label. */
type Labelled<Value> = Iterable<readonly [label: string, value: Value]>;

/** A metric of one value, and without one while `read` returns undefined. */
function single<Value extends number | Histogram>(type: ServiceMetric['type']) {
  return (name: string, help: string, read: () => Value | undefined) =>
    ({ name, help, type, read: () => read() ?? [] }) as ServiceMetric;
}

/** A metric with one label. */
function labelled<Value extends number | Histogram>(type: ServiceMetric['type']) {
  return (name: string, help: string, label: string, read: () => Labelled<Value>) => {
    const labels = [label];
    const values = () => Array.from(read(), ([text, value]) => [{ [label]: text }, value] as const);
    return { name, help, type, labels, read: values } as ServiceMetric;
  };
}

export const counter = single<number>('counter');
export const gauge = single<number>('gauge');
export const histogram = single<Histogram>('histogram');
export const counterBy = labelled<number>('counter');
export const gaugeBy = labelled<number>('gauge');
export const histogramBy = labelled<Histogram>('histogram');

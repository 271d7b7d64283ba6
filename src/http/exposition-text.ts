import type { Histogram } from '../histogram.ts';

/** The labels of a value. A label never holds what a stranger sent. */
export type Labels = Readonly<Record<string, string>>;

/** One value, or a value for each set of labels. */
export type Readings<Value> = Value | Iterable<readonly [labels: Labels, value: Value]>;

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A metric of the service itself. It is read when it is scraped and costs nothing otherwise. */
export type ServiceMetric =
  /** A counter only grows, and its name ends in `_total`. */
  | (Described & { readonly type: 'counter' | 'gauge'; read(): Readings<number> })
  | (Described & { readonly type: 'histogram'; read(): Readings<Histogram> });

/** The content type of the text. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** Metrics in Prometheus' text format, version 0.0.4. */
export function expositionText(metrics: readonly ServiceMetric[]): string {
  const lines: string[] = [];
  for (const metric of metrics) {
    const { name, help, type } = metric;
    lines.push(`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`);
    if (metric.type === 'histogram')
      for (const [labels, histogram] of each(metric.read())) addHistogram(lines, name, labels, histogram);
    else for (const [labels, value] of each(metric.read())) lines.push(sample(name, pairs(labels), value));
  }
  return `${lines.join('\n')}\n`;
}

function each<Value extends number | Histogram>(
  readings: Readings<Value>,
): Iterable<readonly [Labels, Value]> {
  return typeof readings === 'object' && Symbol.iterator in readings ? readings : [[{}, readings as Value]];
}

/** A bucket counts also what is in the buckets below it. */
function addHistogram(lines: string[], name: string, labels: Labels, histogram: Histogram): void {
  const { counts, count, sum } = histogram.read();
  const own = pairs(labels);
  let below = 0;
  for (const [at, bound] of histogram.bounds.entries()) {
    below += counts[at]!;
    lines.push(sample(`${name}_bucket`, [...own, `le="${bound}"`], below));
  }
  lines.push(sample(`${name}_bucket`, [...own, 'le="+Inf"'], count));
  lines.push(sample(`${name}_sum`, own, sum), sample(`${name}_count`, own, count));
}

function pairs(labels: Labels): readonly string[] {
  return Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`);
}

function sample(name: string, labels: readonly string[], value: number): string {
  return labels.length === 0 ? `${name} ${numeral(value)}` : `${name}{${labels.join(',')}} ${numeral(value)}`;
}

function numeral(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

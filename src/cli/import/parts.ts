import { createHash } from 'node:crypto';
import { type ImportPart, maxPartCounts } from '../../contract/shapes/import.ts';
import { UsageError } from '../options.ts';
import { type MetricName, parseTime, type RowSink, type Values } from './rows.ts';
import type { Source } from './source.ts';

/** The rows of a source to import. */
export interface Selection {
  /** The environment to import; `undefined` if it is not known yet, or if the rows do not name an environment. */
  readonly environment: string | undefined;
  /** End of the selection: only earlier rows are imported, Unix seconds. */
  readonly before: number;
}

/** Reads an absolute time. A relative time would select other rows when the import is repeated. @throws {UsageError} */
export function parseBefore(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const at = parseTime(text);
  if (!Number.isNaN(at)) return at / 1000;
  throw new UsageError(`Cannot use --before ${text}: must be a time such as 2026-01-31T12:00:00Z or a day`);
}

type Content = Pick<ImportPart, 'variants' | 'counts' | 'metrics' | 'measurements'>;

/** A part of an import, with the position where it ends in the source. */
export interface Part {
  readonly number: number;
  /** Number of counts and measurements. */
  readonly rows: number;
  readonly content: Content;
  /** Position where the part ends in the source, in bytes. */
  readonly done: number;
}

/** Maximum number of counts that one row adds. */
const maxRowCounts = 2;
/** Number of counts that take as much space as one measurement. */
const measurementCounts = 4;
/** Maximum total length of the names in a part, in characters. */
const maxNames = 64 * 1024;

/**
 * Divides the selected rows of a source into parts. The server remembers the number of each part permanently. Therefore
 * the division must depend only on the content, and must be the same in every version.
 */
export function* divideSource(source: Source, { environment, before }: Selection): Generator<Part> {
  const waiting: Omit<Part, 'done'>[] = [];
  let number = 0;
  let part = new PartBuilder();
  const end = () => {
    waiting.push({ number, rows: part.rows, content: part.content });
    number += 1;
    part = new PartBuilder();
  };
  const sink: RowSink = {
    count(of, time, ...row) {
      if (of !== environment || time >= before) return;
      part.addCount(time, ...row);
      if (part.isFull) end();
    },
    measurement(of, time, ...row) {
      if (of !== environment || time >= before) return;
      part.addMeasurement(time, ...row);
      if (part.isFull) end();
    },
  };
  let done = 0;
  for (done of source.read(sink)) {
    for (const each of waiting.splice(0)) yield { ...each, done };
  }
  if (part.rows > 0) end();
  for (const each of waiting) yield { ...each, done };
}

class PartBuilder {
  readonly #variants: [string, string][] = [];
  readonly #counts: [number, number, number, number, number][] = [];
  readonly #metrics: string[][] = [];
  readonly #measurements: number[][] = [];
  readonly #places = new Map<string, Map<string, number>>();
  readonly #metricPlaces = new Map<string, number>();
  #names = 0;

  get rows(): number {
    return this.#counts.length + this.#measurements.length;
  }

  get isFull(): boolean {
    const room = maxPartCounts - maxRowCounts - measurementCounts * this.#measurements.length;
    return this.#counts.length > room || this.#names > maxNames;
  }

  get content(): Content {
    const variants = this.#variants;
    const counts = this.#counts;
    if (this.#measurements.length === 0) return { variants, counts };
    return { variants, counts, metrics: this.#metrics, measurements: this.#measurements };
  }

  addCount(time: number, feature: string, variant: string, checks: number, used: number, viewed: number): void {
    const place = this.#places.get(feature)?.get(variant) ?? this.#addVariant(feature, variant);
    this.#counts.push([time, place, checks, used, viewed]);
  }

  addMeasurement(time: number, name: MetricName, values: Values): void {
    const place = this.#metricPlaces.get(name.join('\n')) ?? this.#addMetric(name);
    this.#measurements.push([time, place, ...values]);
  }

  #addVariant(feature: string, variant: string): number {
    const place = this.#variants.length;
    this.#variants.push([feature, variant]);
    this.#names += feature.length + variant.length;
    const ofFeature = this.#places.get(feature) ?? new Map<string, number>();
    this.#places.set(feature, ofFeature.set(variant, place));
    return place;
  }

  #addMetric(name: MetricName): number {
    const place = this.#metrics.length;
    const key = name.join('\n'); // Names do not contain line feeds.
    this.#metrics.push([...(name as readonly string[])]);
    this.#names += key.length;
    this.#metricPlaces.set(key, place);
    return place;
  }
}

/**
 * Identifies an import by the content of its files and the selected rows. The server stores the returned hash. The same
 * input must therefore give the same hash in every version.
 */
export function hashImport(source: Source, { environment, before }: Selection): string {
  const content = ['flagmeter import 1', source.format, environment ?? null, source.digest()];
  if (Number.isFinite(before)) content.push(`before ${before}`);
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

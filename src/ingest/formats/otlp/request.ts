import { createHash } from 'node:crypto';
import { isName } from '../../../contract/names.ts';
import type { LedgerNote } from '../../../contract/notes.ts';

/** Value of an attribute. Lists and maps are not read. */
export type Scalar = string | number | boolean;

export type Attributes = Map<string, Scalar>;

/**
 * Names of each attribute in OpenTelemetry's conventions for feature flags, the latest name first
 * (https://opentelemetry.io/docs/specs/semconv/feature-flags). Released hooks still send the earlier names.
 */
const names = {
  feature: ['feature_flag.key', 'key'],
  variant: ['feature_flag.result.variant', 'feature_flag.variant', 'variant'],
  value: ['feature_flag.result.value'],
  reason: ['feature_flag.result.reason', 'feature_flag.evaluation.reason', 'feature_flag.reason', 'reason'],
  error: ['error.type', 'feature_flag.evaluation.error.code'],
  user: ['feature_flag.context.id'],
  event: ['event.name'],
  environment: ['deployment.environment.name', 'deployment.environment'],
  service: ['service.name'],
  version: ['service.version'],
} as const;

const known: ReadonlySet<string> = new Set(Object.values(names).flat());

/** True if the value of an attribute is read. Most attributes are skipped. */
export function isRead(name: string): boolean {
  return known.has(name);
}

/** Returns the text of an attribute under the latest of its names. Empty texts count as missing. */
export function readText(attributes: Attributes, attribute: keyof typeof names): string | undefined {
  for (const name of names[attribute]) {
    const value = attributes.get(name);
    if (value !== undefined && value !== '') return String(value);
  }
  return undefined;
}

const evaluation = 'feature_flag.evaluation';

/** True if a log record or a span event of this name is an evaluation of a flag. */
export function isEvaluation(event: string | undefined): boolean {
  return event === evaluation || event === 'feature_flag';
}

/** True if a span of this name is itself an evaluation of a flag, described by the span's attributes. */
export function isEvaluationSpan(name: unknown): boolean {
  return name === evaluation;
}

const successTotal = 'feature_flag.evaluation_success_total';
const errorTotal = 'feature_flag.evaluation_error_total';

/** True if a metric is counted. Other metrics of OpenTelemetry hooks would count the same evaluations twice. */
export function isCounted(metric: string): boolean {
  return metric === successTotal || metric === errorTotal;
}

interface Evaluation {
  readonly feature: string;
  readonly variant: string;
  readonly user: string | undefined;
}

/** Variants of evaluations that report no variant. */
const failed = '(error)';
const unnamed = '(value)';
const unknown = '(unknown)';

/** Reads an evaluation; `undefined` if no attribute names a flag. @param metric name of the metric of a data point */
function readEvaluation(attributes: Attributes, metric?: string): Evaluation | undefined {
  const feature = readText(attributes, 'feature');
  if (feature === undefined) return undefined;
  const hasFailed =
    metric === errorTotal ||
    readText(attributes, 'error') !== undefined ||
    readText(attributes, 'reason')?.toLowerCase() === 'error';
  const variant = hasFailed ? failed : (readText(attributes, 'variant') ?? variantOfValue(attributes));
  return { feature, variant, user: readText(attributes, 'user') };
}

/** Returns a variant for a provider that reports only a value. Returns `(value)` if the value is not a valid name. */
function variantOfValue(attributes: Attributes): string {
  const value = attributes.get(names.value[0]);
  if (typeof value === 'boolean') return value ? 'enabled' : 'disabled';
  if (value === undefined) return unknown;
  return isName(String(value)) ? String(value) : unnamed;
}

/** OTLP signals. Each request has the data of one signal. */
export const signals = ['logs', 'metrics', 'traces'] as const;
export type Signal = (typeof signals)[number];

type OtlpNote = Extract<LedgerNote, 'name_dropped' | 'value_dropped' | 'sum_unsupported'>;

/** Index of a missing text. */
export const noText = -1;
/** Replacement for a missing time. Data without a time counts at the time of its arrival. */
export const noTime = -1;

/** Number of array items per row of the lists in an `OtlpRequest`. A row refers to texts by their indexes. */
export const resourceWidth = 4;
export const checkWidth = 6;
export const totalWidth = 10;

/**
 * Flag evaluations of one OTLP request, in a few arrays, which are transferred between threads without a copy.
 * Evaluations with the same resource, flag, variant, user and minute are one row.
 */
export interface OtlpRequest {
  /** First 64 bits of the SHA-256 of the body. */
  readonly digest: readonly [number, number];
  /** True if a record has a time. Otherwise, different requests can have the same digest. */
  readonly isDistinct: boolean;
  readonly texts: Uint8Array;
  readonly textEnds: Uint32Array;
  /** Rows of `environment, service, version, records` */
  readonly resources: Float64Array;
  /** Rows of `resource, feature, variant, user, minute, checks` */
  readonly checks: Float64Array;
  /** Rows of `resource, feature, variant, value, at, start` (Unix ms), and four words of the series' digest. */
  readonly totals: Float64Array;
  /** Number of records about flags that cannot be counted. */
  readonly rejected: number;
  readonly notes: readonly OtlpNote[];
  /** Cost of counting the request, in entries. */
  readonly work: number;
}

export interface Point {
  readonly attributes: Attributes;
  /** All attributes as sent, for the identity of the series. */
  readonly sent: readonly string[];
  /** Start and time in Unix ns. */
  readonly start: bigint;
  readonly time: bigint;
  /** `undefined` if the point has no value. */
  readonly value: number | undefined;
}

export interface Metric {
  readonly name: string;
  readonly points: readonly Point[];
  /** 1 for delta, 2 for cumulative; 0 if it is not specified. */
  readonly temporality: number;
  readonly isMonotonic: boolean;
  /** Number of points of metrics that are not sums. */
  readonly others: number;
}

interface FoundCheck {
  readonly attributes: Attributes;
  readonly metric?: string;
  readonly time: bigint;
  readonly count: number;
}

interface FoundTotal {
  readonly point: Point;
  readonly metric: string;
  readonly scope: string;
}

/** Lone surrogates, which UTF-8 cannot encode. Texts that differ only in these would have the same bytes. */
const loneSurrogate = /\p{Cs}/u;
const maxCount = 2 ** 31 - 1;
const delta = 1;
const cumulative = 2;

/** Collects the content of a resource. The attributes of the resource can come after its records. */
export class ResourceBuilder {
  readonly attributes: Attributes = new Map();
  /** All attributes as sent. */
  readonly sent: string[] = [];
  readonly checks: FoundCheck[] = [];
  readonly totals: FoundTotal[] = [];
  readonly notes = new Set<OtlpNote>();
  rejected = 0;

  /** @param time Unix ns, 0 if unknown */
  event(attributes: Attributes, time: bigint): void {
    this.checks.push({ attributes, time, count: 1 });
  }

  /** @param scope identifies the scope within the resource */
  metric({ name, points, temporality, isMonotonic, others }: Metric, scope: string): void {
    if (!isCounted(name)) return;
    this.#reject('sum_unsupported', others);
    if (!isMonotonic || (temporality !== delta && temporality !== cumulative)) {
      this.#reject('sum_unsupported', points.length);
      return;
    }
    const most = temporality === delta ? maxCount : Number.MAX_SAFE_INTEGER;
    for (const point of points) {
      const { value, attributes, time } = point;
      if (value === undefined) continue;
      if (!Number.isInteger(value) || value < 0 || value > most) this.#reject('value_dropped', 1);
      else if (temporality === cumulative) this.totals.push({ point, metric: name, scope });
      else this.checks.push({ attributes, metric: name, time, count: value });
    }
  }

  #reject(note: OtlpNote, records: number): void {
    if (records === 0) return;
    this.rejected += records;
    this.notes.add(note);
  }
}

export class RequestBuilder {
  readonly #texts = new Map<string, number>();
  readonly #resources: number[] = [];
  readonly #resourceAt = new Map<string, number>();
  readonly #checks: number[] = [];
  readonly #checkAt = new Map<string, number>();
  readonly #totals: number[] = [];
  readonly #notes = new Set<OtlpNote>();
  #rejected = 0;
  #isDistinct = false;

  add(found: ResourceBuilder): void {
    this.#rejected += found.rejected;
    for (const note of found.notes) this.#notes.add(note);
    if (found.checks.length + found.totals.length === 0) return;
    const resource = this.#addResource(found.attributes);
    for (const each of found.checks) this.#addCheck(resource, each);
    if (found.totals.length === 0) return;
    const sent = sha256(found.sent.toSorted()).toString('hex');
    for (const each of found.totals) this.#addTotal(resource, sent, each);
  }

  /** @param body the request as sent */
  end(body: Uint8Array): OtlpRequest {
    const digest = createHash('sha256').update(body).digest();
    const { bytes, ends } = joined([...this.#texts.keys()]);
    return {
      digest: [digest.readUInt32BE(0), digest.readUInt32BE(4)],
      isDistinct: this.#isDistinct,
      texts: bytes,
      textEnds: ends,
      resources: Float64Array.from(this.#resources),
      checks: Float64Array.from(this.#checks),
      totals: Float64Array.from(this.#totals),
      rejected: this.#rejected,
      notes: [...this.#notes],
      work: this.#checks.length / checkWidth + this.#totals.length / totalWidth,
    };
  }

  #addCheck(resource: number, { attributes, metric, time, count }: FoundCheck): void {
    const row = this.#readRow(resource, attributes, metric);
    if (row === undefined) return;
    if (time !== 0n) this.#isDistinct = true;
    const minute = time === 0n ? noTime : Number(time / 60_000_000_000n);
    const key = `${row} ${minute}`;
    const known = this.#checkAt.get(key);
    if (known !== undefined) {
      this.#checks[known]! += count;
      return;
    }
    this.#checks.push(...row, minute, count);
    this.#checkAt.set(key, this.#checks.length - 1);
  }

  #addTotal(resource: number, sent: string, { point, metric, scope }: FoundTotal): void {
    const row = this.#readRow(resource, point.attributes, metric);
    if (row === undefined) return;
    if (point.time !== 0n) this.#isDistinct = true;
    const digest = sha256([sent, scope, metric, String(point.start), ...point.sent.toSorted()]);
    const words = [0, 4, 8, 12].map((at) => digest.readUInt32BE(at));
    this.#totals.push(...row.slice(0, 3), point.value!, milliseconds(point.time), milliseconds(point.start));
    this.#totals.push(...words);
  }

  /** Returns `resource, feature, variant, user` of a record, and adds the record to the resource. */
  #readRow(resource: number, attributes: Attributes, metric: string | undefined): number[] | undefined {
    const evaluation = readEvaluation(attributes, metric);
    if (evaluation === undefined || !isName(evaluation.feature) || !isName(evaluation.variant)) {
      this.#rejected += 1;
      this.#notes.add('name_dropped');
      return undefined;
    }
    this.#resources[resource * resourceWidth + 3]! += 1;
    const { feature, variant, user } = evaluation;
    const isText = user !== undefined && !loneSurrogate.test(user);
    return [resource, this.#text(feature), this.#text(variant), isText ? this.#text(user) : noText];
  }

  #addResource(attributes: Attributes): number {
    const texts = (['environment', 'service', 'version'] as const).map((each) =>
      this.#text(readText(attributes, each)),
    );
    const key = texts.join(' ');
    const known = this.#resourceAt.get(key);
    if (known !== undefined) return known;
    const resource = this.#resourceAt.size;
    this.#resources.push(...texts, 0);
    this.#resourceAt.set(key, resource);
    return resource;
  }

  #text(text: string | undefined): number {
    if (text === undefined) return noText;
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const at = this.#texts.size;
    this.#texts.set(text, at);
    return at;
  }
}

function milliseconds(ns: bigint): number {
  return Number(ns / 1_000_000n);
}

/** Returns the hash of a list of texts. Different lists have different hashes. */
function sha256(texts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(texts)).digest();
}

function joined(texts: readonly string[]): { readonly bytes: Uint8Array; readonly ends: Uint32Array } {
  const encoded = texts.map((text) => Buffer.from(text));
  const ends = new Uint32Array(encoded.length);
  let end = 0;
  for (const [at, part] of encoded.entries()) {
    end += part.length;
    ends[at] = end;
  }
  return { bytes: new Uint8Array(Buffer.concat(encoded)), ends };
}

export class Texts {
  readonly #request: OtlpRequest;
  readonly #known: (string | undefined)[] = [];

  constructor(request: OtlpRequest) {
    this.#request = request;
  }

  /** Returns the text at an index; `undefined` for `noText`. */
  at(index: number): string | undefined {
    if (index === noText) return undefined;
    this.#known[index] ??= this.#decode(index);
    return this.#known[index];
  }

  #decode(index: number): string {
    const { texts, textEnds } = this.#request;
    const from = index === 0 ? 0 : textEnds[index - 1]!;
    return Buffer.from(texts.buffer, texts.byteOffset, texts.length).toString('utf8', from, textEnds[index]!);
  }
}

import { Refusal } from '../../../contract/errors.ts';
import { ProtoReader } from '../../../grpc/protobuf.ts';
import { decodeText, parseJson } from '../../../http/body.ts';
import { checkJsonEntries } from '../../json-text.ts';
import {
  type Attributes,
  isCounted,
  isEvaluation,
  isEvaluationSpan,
  isRead,
  type Metric,
  type OtlpRequest,
  type Point,
  RequestBuilder,
  ResourceBuilder,
  readText,
  type Scalar,
  type Signal,
} from './request.ts';

/**
 * Decodes protobuf messages of OTLP (https://github.com/open-telemetry/opentelemetry-proto, 1.x). All signals have the
 * same nesting. A request has resources (field 1). Each of these has the resource itself (1) and scope entries (2),
 * which have the scope itself (1) and its records (2). Fields can arrive in any order.
 */

function decodeProtobuf(signal: Signal, body: Uint8Array): OtlpRequest {
  const request = new RequestBuilder();
  const reader = new ProtoReader(body);
  while (reader.next()) {
    if (reader.field === 1) readResource(reader, signal, request);
    else reader.skip();
  }
  return request.end(body);
}

/** Reads a nested message. @param read reads or skips the value of a field */
function readMessage(reader: ProtoReader, read: (field: number) => void): void {
  const outer = reader.enter();
  while (reader.next()) read(reader.field);
  reader.leave(outer);
}

function readResource(reader: ProtoReader, signal: Signal, request: RequestBuilder): void {
  const found = new ResourceBuilder();
  readMessage(reader, (field) => {
    if (field === 1) readMessage(reader, (each) => readAttributes(reader, each, 1, found.attributes, found.sent));
    else if (field === 2) readScope(reader, signal, found);
    else reader.skip();
  });
  request.add(found);
}

function readScope(reader: ProtoReader, signal: Signal, found: ResourceBuilder): void {
  let scope = '';
  const metrics: Metric[] = [];
  readMessage(reader, (field) => {
    if (field === 1 && signal === 'metrics') {
      scope = reader.peekBytes().toString('latin1');
      reader.skip();
    } else if (field !== 2) reader.skip();
    else if (signal === 'metrics') metrics.push(readMetric(reader));
    else if (signal === 'logs') readLog(reader, found);
    else readSpan(reader, found);
  });
  for (const metric of metrics) found.metric(metric, scope);
}

/** Reads a `LogRecord`, whose name comes after its attributes. */
function readLog(reader: ProtoReader, found: ResourceBuilder): void {
  const attributes: Attributes = new Map();
  let event: string | undefined;
  let time = 0n;
  let observed = 0n;
  readMessage(reader, (field) => {
    if (field === 1) time = reader.fixed64();
    else if (field === 11) observed = reader.fixed64();
    else if (field === 12) event = reader.name();
    else readAttributes(reader, field, 6, attributes);
  });
  if (isEvaluation(event || readText(attributes, 'event'))) found.event(attributes, time || observed);
}

/** Reads the events of a `Span`, and the span itself if it is an evaluation. Skips the attributes of other spans. */
function readSpan(reader: ProtoReader, found: ResourceBuilder): void {
  const attributes: Attributes = new Map();
  let name: string | undefined;
  let start = 0n;
  readMessage(reader, (field) => {
    if (field === 5) name = reader.name();
    else if (field === 7) start = reader.fixed64();
    else if (field === 11) readEvent(reader, found);
    else if (name !== undefined && !isEvaluationSpan(name)) reader.skip();
    else readAttributes(reader, field, 9, attributes);
  });
  if (isEvaluationSpan(name)) found.event(attributes, start);
}

function readEvent(reader: ProtoReader, found: ResourceBuilder): void {
  const attributes: Attributes = new Map();
  let event = '';
  let time = 0n;
  readMessage(reader, (field) => {
    if (field === 1) time = reader.fixed64();
    else if (field === 2) event = reader.name();
    else readAttributes(reader, field, 3, attributes);
  });
  if (isEvaluation(event)) found.event(attributes, time);
}

const gauge = 5;
const sum = 7;
const histogram = 9;
const exponentialHistogram = 10;
const summary = 11;

/** Reads a `Metric`. If the name comes first and shows that the metric is not counted, skips its points. */
function readMetric(reader: ProtoReader): Metric {
  const metric = { name: '', points: [] as Point[], temporality: 0, isMonotonic: false, others: 0 };
  const mayCount = () => metric.name === '' || isCounted(metric.name);
  readMessage(reader, (field) => {
    if (field === 1) metric.name = reader.name();
    else if (field === sum && mayCount()) readSum(reader, metric);
    else if ([gauge, histogram, exponentialHistogram, summary].includes(field) && mayCount())
      readMessage(reader, (each) => {
        if (each === 1) metric.others += 1;
        reader.skip();
      });
    else reader.skip();
  });
  return metric;
}

function readSum(
  reader: ProtoReader,
  metric: { readonly points: Point[]; temporality: number; isMonotonic: boolean },
): void {
  readMessage(reader, (field) => {
    if (field === 1) metric.points.push(readPoint(reader));
    else if (field === 2) metric.temporality = reader.int32();
    else if (field === 3) metric.isMonotonic = reader.int32() !== 0;
    else reader.skip();
  });
}

function readPoint(reader: ProtoReader): Point {
  const attributes: Attributes = new Map();
  const sent: string[] = [];
  let start = 0n;
  let time = 0n;
  let value: number | undefined;
  readMessage(reader, (field) => {
    if (field === 2) start = reader.fixed64();
    else if (field === 3) time = reader.fixed64();
    else if (field === 4) value = reader.double();
    else if (field === 6) value = Number(BigInt.asIntN(64, reader.fixed64()));
    else readAttributes(reader, field, 7, attributes, sent);
  });
  return { attributes, sent, start, time, value };
}

/** Reads a field if it is a `KeyValue` attribute, or skips it. @param sent receives the bytes of the attribute */
function readAttributes(
  reader: ProtoReader,
  field: number,
  ofAttributes: number,
  attributes: Attributes,
  sent?: string[],
): void {
  if (field !== ofAttributes) {
    reader.skip();
    return;
  }
  sent?.push(reader.peekBytes().toString('latin1'));
  let name: string | undefined;
  let value: Scalar | undefined;
  readMessage(reader, (each) => {
    if (each === 1) name = reader.name();
    else if (each === 2 && (name === undefined || isRead(name))) value = readValue(reader);
    else reader.skip();
  });
  if (name !== undefined && value !== undefined && isRead(name)) attributes.set(name, value);
}

/** Reads an `AnyValue`; `undefined` for a list, a map or bytes. */
function readValue(reader: ProtoReader): Scalar | undefined {
  let value: Scalar | undefined;
  readMessage(reader, (field) => {
    if (field === 1) value = reader.text();
    else if (field === 2) value = reader.int32() !== 0;
    else if (field === 3) value = reader.int64();
    else if (field === 4) value = reader.double();
    else reader.skip();
  });
  return value;
}

/**
 * Lists of a signal, outermost first, in OTLP as JSON
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). 64-bit integers can be texts or numbers. A value
 * of an unexpected type counts as missing, and unknown fields are ignored.
 */
const lists = {
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
} as const;

function decodeJson(signal: Signal, body: Uint8Array): OtlpRequest {
  checkJsonEntries(body);
  const sent = parseJson(decodeText(body));
  if (!isObject(sent)) throw new Refusal('invalid_body', 'The body must be an object');
  const request = new RequestBuilder();
  const [resources, scopes, records] = lists[signal];
  for (const each of listIn(sent, resources)) {
    const found = new ResourceBuilder();
    readJsonAttributes(each['resource'], found.attributes, found.sent);
    for (const scope of listIn(each, scopes)) {
      const name = signal === 'metrics' ? JSON.stringify(scope['scope'] ?? null) : '';
      for (const record of listIn(scope, records)) readers[signal](record, found, name);
    }
    request.add(found);
  }
  return request.end(body);
}

type SentObject = Readonly<Record<string, unknown>>;

const readers: Readonly<Record<Signal, (record: SentObject, found: ResourceBuilder, scope: string) => void>> = {
  logs(record, found) {
    const attributes: Attributes = new Map();
    readJsonAttributes(record, attributes);
    const { eventName, timeUnixNano, observedTimeUnixNano } = record;
    const event = typeof eventName === 'string' && eventName !== '' ? eventName : readText(attributes, 'event');
    if (isEvaluation(event)) found.event(attributes, readFixed64(timeUnixNano) || readFixed64(observedTimeUnixNano));
  },
  traces(span, found) {
    if (isEvaluationSpan(span['name'])) {
      const attributes: Attributes = new Map();
      readJsonAttributes(span, attributes);
      found.event(attributes, readFixed64(span['startTimeUnixNano']));
    }
    for (const event of listIn(span, 'events')) {
      if (typeof event['name'] !== 'string' || !isEvaluation(event['name'])) continue;
      const attributes: Attributes = new Map();
      readJsonAttributes(event, attributes);
      found.event(attributes, readFixed64(event['timeUnixNano']));
    }
  },
  metrics(metric, found, scope) {
    const { name, sum } = metric;
    if (typeof name !== 'string' || !isCounted(name)) return;
    const sums = isObject(sum) ? sum : {};
    found.metric(
      {
        name,
        points: Array.from(listIn(sums, 'dataPoints'), readJsonPoint),
        temporality: readTemporality(sums['aggregationTemporality']),
        isMonotonic: sums['isMonotonic'] === true,
        others: others.reduce((points, each) => points + [...listIn(metric[each], 'dataPoints')].length, 0),
      },
      scope,
    );
  },
};

/** Kinds of metrics that are not sums. */
const others = ['gauge', 'histogram', 'exponentialHistogram', 'summary'] as const;

function readJsonPoint(point: SentObject): Point {
  const attributes: Attributes = new Map();
  const sent: string[] = [];
  readJsonAttributes(point, attributes, sent);
  return {
    attributes,
    sent,
    start: readFixed64(point['startTimeUnixNano']),
    time: readFixed64(point['timeUnixNano']),
    value: readPointValue(point['asInt'] ?? point['asDouble']),
  };
}

/** Returns `undefined` if a point has no value, and `NaN` if the value is not a number. */
function readPointValue(sent: unknown): number | undefined {
  return sent === undefined || sent === null ? undefined : (readNumber(sent) ?? Number.NaN);
}

/** Reads the temporality. An enum is a number, but some senders write its name. */
function readTemporality(sent: unknown): number {
  if (typeof sent === 'number') return sent;
  return ['', 'AGGREGATION_TEMPORALITY_DELTA', 'AGGREGATION_TEMPORALITY_CUMULATIVE'].indexOf(String(sent));
}

/** @param sent receives each attribute as text */
function readJsonAttributes(holder: unknown, attributes: Attributes, sent?: string[]): void {
  for (const attribute of listIn(holder, 'attributes')) {
    sent?.push(JSON.stringify(attribute));
    const { key, value } = attribute;
    if (typeof key !== 'string' || !isRead(key)) continue;
    const scalar = readScalar(value);
    if (scalar !== undefined) attributes.set(key, scalar);
  }
}

function readScalar(value: unknown): Scalar | undefined {
  if (!isObject(value)) return undefined;
  const { stringValue, boolValue, intValue, doubleValue } = value;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  return readNumber(intValue ?? doubleValue);
}

function readNumber(sent: unknown): number | undefined {
  if (typeof sent === 'number') return sent;
  return typeof sent === 'string' && /^-?\d{1,20}$/.test(sent) ? Number(sent) : undefined;
}

/** Reads a `fixed64`; 0 if it is missing or invalid. */
function readFixed64(sent: unknown): bigint {
  if (typeof sent === 'string') return /^\d{1,20}$/.test(sent) ? BigInt.asUintN(64, BigInt(sent)) : 0n;
  return typeof sent === 'number' && sent > 0 && sent < 2 ** 64 ? BigInt(Math.floor(sent)) : 0n;
}

function isObject(value: unknown): value is SentObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Yields the objects in a list; nothing if the field is not a list. */
function* listIn(holder: unknown, name: string): Generator<SentObject> {
  const list = isObject(holder) ? holder[name] : undefined;
  if (Array.isArray(list)) for (const each of list) if (isObject(each)) yield each;
}

export const encodings = { 'application/x-protobuf': 'protobuf', 'application/json': 'json' } as const;
export type Encoding = (typeof encodings)[keyof typeof encodings];

export type OtlpFormat = `${Signal}-${Encoding}`;

/** Decoders by format. @throws {Refusal} of status 400 or 413 */
export const otlpDecoders: Readonly<Record<OtlpFormat, (body: Uint8Array) => OtlpRequest>> = {
  'logs-protobuf': (body) => decodeProtobuf('logs', body),
  'logs-json': (body) => decodeJson('logs', body),
  'metrics-protobuf': (body) => decodeProtobuf('metrics', body),
  'metrics-json': (body) => decodeJson('metrics', body),
  'traces-protobuf': (body) => decodeProtobuf('traces', body),
  'traces-json': (body) => decodeJson('traces', body),
};

import { ProtoReader } from '../../../grpc/proto-reader.ts';
import {
  type Attributes,
  isCounted,
  isEvaluation,
  isEvaluationSpan,
  isRead,
  type Scalar,
  textOf,
} from './conventions.ts';
import {
  type Metric,
  type OtlpRequest,
  type Point,
  RequestDraft,
  ResourceDraft,
  type Signal,
} from './request.ts';

/**
 * The protobuf messages of OTLP (https://github.com/open-telemetry/opentelemetry-proto, 1.x). The requests of all signals nest alike:
 * resources (1), in each the resource (1) and scopes (2), in each the scope (1) and records (2). Fields may arrive in any order.
 */

export function decodeProtobuf(signal: Signal, body: Uint8Array): OtlpRequest {
  const request = new RequestDraft();
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

function readResource(reader: ProtoReader, signal: Signal, request: RequestDraft): void {
  const found = new ResourceDraft();
  readMessage(reader, (field) => {
    if (field === 1)
      readMessage(reader, (each) => readAttributes(reader, each, 1, found.attributes, found.sent));
    else if (field === 2) readScope(reader, signal, found);
    else reader.skip();
  });
  request.add(found);
}

function readScope(reader: ProtoReader, signal: Signal, found: ResourceDraft): void {
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

/** A `LogRecord`. Its name comes after its attributes. */
function readLog(reader: ProtoReader, found: ResourceDraft): void {
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
  if (isEvaluation(event || textOf(attributes, 'event'))) found.event(attributes, time || observed);
}

/** A `Span`: its events, and itself if it is an evaluation. Its attributes are skipped if another name comes first. */
function readSpan(reader: ProtoReader, found: ResourceDraft): void {
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

function readEvent(reader: ProtoReader, found: ResourceDraft): void {
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

/** A `Metric`. The points of other metrics than those counted are skipped, if the name comes first. */
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

/** Reads a field of a message if it is an attribute (`KeyValue`), or else skips it. @param sent receives the bytes of the attribute */
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

/** An `AnyValue`; `undefined` for a list, a map or bytes. */
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

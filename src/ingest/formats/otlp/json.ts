import { ApiError } from '../../../contract/errors.ts';
import { decodeText, parseJson } from '../../../http/body.ts';
import { checkJsonEntries } from '../../json-entries.ts';
import {
  type Attributes,
  isCounted,
  isEvaluation,
  isEvaluationSpan,
  isRead,
  type Scalar,
  textOf,
} from './conventions.ts';
import { type OtlpRequest, type Point, RequestDraft, ResourceDraft, type Signal } from './request.ts';

/**
 * OTLP as JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). Integers of 64 bits may be texts or numbers. A
 * value of another type than the expected one counts as missing, and unknown fields are ignored.
 */

/** The names of the lists of a signal, from the outside in. */
const lists = {
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
} as const;

export function decodeJson(signal: Signal, body: Uint8Array): OtlpRequest {
  checkJsonEntries(body);
  const sent = parseJson(decodeText(body));
  if (!isObject(sent)) throw new ApiError('invalid_body', 'The body must be an object');
  const request = new RequestDraft();
  const [resources, scopes, records] = lists[signal];
  for (const each of listIn(sent, resources)) {
    const found = new ResourceDraft();
    readAttributes(each['resource'], found.attributes, found.sent);
    for (const scope of listIn(each, scopes)) {
      const name = signal === 'metrics' ? JSON.stringify(scope['scope'] ?? null) : '';
      for (const record of listIn(scope, records)) readers[signal](record, found, name);
    }
    request.add(found);
  }
  return request.end(body);
}

type Sent = Readonly<Record<string, unknown>>;

const readers: Readonly<Record<Signal, (record: Sent, found: ResourceDraft, scope: string) => void>> = {
  logs(record, found) {
    const attributes: Attributes = new Map();
    readAttributes(record, attributes);
    const { eventName, timeUnixNano, observedTimeUnixNano } = record;
    const event = typeof eventName === 'string' && eventName !== '' ? eventName : textOf(attributes, 'event');
    if (isEvaluation(event)) found.event(attributes, wholeOf(timeUnixNano) || wholeOf(observedTimeUnixNano));
  },
  traces(span, found) {
    if (isEvaluationSpan(span['name'])) {
      const attributes: Attributes = new Map();
      readAttributes(span, attributes);
      found.event(attributes, wholeOf(span['startTimeUnixNano']));
    }
    for (const event of listIn(span, 'events')) {
      if (typeof event['name'] !== 'string' || !isEvaluation(event['name'])) continue;
      const attributes: Attributes = new Map();
      readAttributes(event, attributes);
      found.event(attributes, wholeOf(event['timeUnixNano']));
    }
  },
  metrics(metric, found, scope) {
    const { name, sum } = metric;
    if (typeof name !== 'string' || !isCounted(name)) return;
    const sums = isObject(sum) ? sum : {};
    found.metric(
      {
        name,
        points: Array.from(listIn(sums, 'dataPoints'), pointOf),
        temporality: temporalityOf(sums['aggregationTemporality']),
        isMonotonic: sums['isMonotonic'] === true,
        others: others.reduce((points, each) => points + [...listIn(metric[each], 'dataPoints')].length, 0),
      },
      scope,
    );
  },
};

/** The kinds of metrics that are not sums. */
const others = ['gauge', 'histogram', 'exponentialHistogram', 'summary'] as const;

function pointOf(point: Sent): Point {
  const attributes: Attributes = new Map();
  const sent: string[] = [];
  readAttributes(point, attributes, sent);
  return {
    attributes,
    sent,
    start: wholeOf(point['startTimeUnixNano']),
    time: wholeOf(point['timeUnixNano']),
    value: pointValueOf(point['asInt'] ?? point['asDouble']),
  };
}

/** `undefined` if a point has no value, and `NaN` if it has one that is not a number. */
function pointValueOf(sent: unknown): number | undefined {
  return sent === undefined || sent === null ? undefined : (numberOf(sent) ?? Number.NaN);
}

/** An enum is a number, but some senders write its name. */
function temporalityOf(sent: unknown): number {
  if (typeof sent === 'number') return sent;
  return ['', 'AGGREGATION_TEMPORALITY_DELTA', 'AGGREGATION_TEMPORALITY_CUMULATIVE'].indexOf(String(sent));
}

/** @param sent receives each attribute as text */
function readAttributes(holder: unknown, attributes: Attributes, sent?: string[]): void {
  for (const attribute of listIn(holder, 'attributes')) {
    sent?.push(JSON.stringify(attribute));
    const { key, value } = attribute;
    if (typeof key !== 'string' || !isRead(key)) continue;
    const scalar = scalarOf(value);
    if (scalar !== undefined) attributes.set(key, scalar);
  }
}

function scalarOf(value: unknown): Scalar | undefined {
  if (!isObject(value)) return undefined;
  const { stringValue, boolValue, intValue, doubleValue } = value;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  return numberOf(intValue ?? doubleValue);
}

function numberOf(sent: unknown): number | undefined {
  if (typeof sent === 'number') return sent;
  return typeof sent === 'string' && /^-?\d{1,20}$/.test(sent) ? Number(sent) : undefined;
}

/** A `fixed64`; 0 if it is missing or invalid. */
function wholeOf(sent: unknown): bigint {
  if (typeof sent === 'string') return /^\d{1,20}$/.test(sent) ? BigInt.asUintN(64, BigInt(sent)) : 0n;
  return typeof sent === 'number' && sent > 0 && sent < 2 ** 64 ? BigInt(Math.floor(sent)) : 0n;
}

function isObject(value: unknown): value is Sent {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in a list; empty without a list. */
function* listIn(holder: unknown, name: string): Generator<Sent> {
  const list = isObject(holder) ? holder[name] : undefined;
  if (Array.isArray(list)) for (const each of list) if (isObject(each)) yield each;
}

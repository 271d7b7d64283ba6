import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { type Encoding, otlpDecoders } from '../../../src/ingest/formats/otlp/decode.ts';
import {
  checkWidth,
  noTime,
  type OtlpRequest,
  resourceWidth,
  type Signal,
  Texts,
  totalWidth,
} from '../../../src/ingest/formats/otlp/request.ts';

/** OTLP messages as JSON, and as protobuf by the official field numbers. */

const { root } = protobuf.parse(readFileSync(new URL('otlp.proto', import.meta.url), 'utf8'), { keepCase: false });
const typeBySignal = { logs: 'Logs', metrics: 'Metrics', traces: 'Traces' } as const;

export function encodeAs(encoding: Encoding, signal: Signal, request: object): Uint8Array<ArrayBuffer> {
  if (encoding === 'json') return new Uint8Array(Buffer.from(JSON.stringify(request)));
  const type = root.lookupType(`otlp.${typeBySignal[signal]}`);
  return new Uint8Array(type.encode(type.fromObject(request)).finish());
}

export function decodeResponse(name: 'Response' | 'Status', bytes: Uint8Array): unknown {
  const type = root.lookupType(`otlp.${name}`);
  return type.toObject(type.decode(bytes), { longs: Number });
}

export type Value = string | number | boolean;

export function attributes(values: Readonly<Record<string, Value>>): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: Value): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

export const resource = (more: Readonly<Record<string, Value>> = {}) => ({
  attributes: attributes({
    'service.name': 'checkout-api',
    'service.version': '1.4.0',
    'deployment.environment.name': 'Production',
    ...more,
  }),
});

/** Creates an evaluation event. @param at Unix ms */
export const evaluation = (values: Readonly<Record<string, Value>>, at: number) => ({
  timeUnixNano: `${at}000000`,
  eventName: 'feature_flag.evaluation',
  attributes: attributes({ 'feature_flag.key': 'checkout', ...values }),
});

export const logs = (logRecords: readonly object[], of: object = resource()) => ({
  resourceLogs: [{ resource: of, scopeLogs: [{ scope: { name: 'flags' }, logRecords }] }],
});

export const spans = (all: readonly object[], of: object = resource()) => ({
  resourceSpans: [{ resource: of, scopeSpans: [{ scope: { name: 'http' }, spans: all }] }],
});

export const traces = (events: readonly object[], of: object = resource()) => spans([{ name: 'GET /', events }], of);

export const metrics = (all: readonly object[], of: object = resource()) => ({
  resourceMetrics: [{ resource: of, scopeMetrics: [{ scope: { name: 'js.openfeature.dev' }, metrics: all }] }],
});

export const successTotal = 'feature_flag.evaluation_success_total';

/** Creates a sum as the OpenFeature hook exports it. @param aggregationTemporality 1 for delta, 2 for cumulative */
export const sum = (aggregationTemporality: number, dataPoints: readonly object[], name = successTotal) => ({
  name,
  sum: { aggregationTemporality, isMonotonic: true, dataPoints },
});

/** Creates a data point. Times are Unix ms. */
export const point = (value: number, at: number, start = 0, values: Readonly<Record<string, Value>> = {}) => ({
  startTimeUnixNano: `${start}000000`,
  timeUnixNano: `${at}000000`,
  ...(Number.isInteger(value) ? { asInt: String(value) } : { asDouble: value }),
  attributes: attributes({ 'feature_flag.key': 'checkout', 'feature_flag.result.variant': 'on', ...values }),
});

/** Decoded request with texts instead of indexes. */
export interface ReadRequest {
  readonly resources: readonly (string | number | undefined)[][];
  readonly checks: readonly object[];
  readonly totals: readonly object[];
  readonly rejected: number;
  readonly notes: readonly string[];
}

export function read(encoding: Encoding, signal: Signal, body: Uint8Array): ReadRequest {
  return readable(otlpDecoders[`${signal}-${encoding}`](body));
}

export function readable(request: OtlpRequest): ReadRequest {
  const texts = new Texts(request);
  const splitRows = (list: Float64Array, width: number) =>
    Array.from({ length: list.length / width }, (_, at) => [...list.slice(at * width, (at + 1) * width)]);
  return {
    resources: splitRows(request.resources, resourceWidth).map(([environment, service, version, records]) => [
      texts.at(environment!),
      texts.at(service!),
      texts.at(version!),
      records,
    ]),
    checks: splitRows(request.checks, checkWidth).map(([at, feature, variant, user, minute, checks]) => ({
      resource: at,
      feature: texts.at(feature!),
      variant: texts.at(variant!),
      ...(user! >= 0 && { user: texts.at(user!) }),
      ...(minute !== noTime && { minute }),
      checks,
    })),
    totals: splitRows(request.totals, totalWidth).map(([at, feature, variant, value, time, start]) => ({
      resource: at,
      feature: texts.at(feature!),
      variant: texts.at(variant!),
      value,
      at: time,
      start,
    })),
    rejected: request.rejected,
    notes: [...request.notes].sort(),
  };
}

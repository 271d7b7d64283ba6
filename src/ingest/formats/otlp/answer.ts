import type { ApiError } from '../../../contract/errors.ts';
import { bytesField, joinFields, numberField } from '../../../grpc/proto-writer.ts';
import { problem } from '../../../http/problem.ts';
import type { Reply } from '../../../http/types.ts';
import type { Encoding } from './formats.ts';
import type { Signal } from './request.ts';

/** The answers to export requests (https://opentelemetry.io/docs/specs/otlp); over HTTP, in the encoding of the request. */

const types: Readonly<Record<Encoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** The field with the number of rejected records, in JSON. */
const rejectedNames: Readonly<Record<Signal, string>> = {
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
  traces: 'rejectedSpans',
};

const accepted: Readonly<Record<Encoding, Reply>> = {
  protobuf: {
    status: 200,
    headers: { 'content-type': types.protobuf },
    body: new Uint8Array(0),
    isReused: true,
  },
  json: { status: 200, headers: { 'content-type': types.json }, body: '{}', isReused: true },
};

/** A protobuf answer: empty if all records about flags are counted. @param message the reason, for people */
export function partialSuccess(rejected: number, message: string): Uint8Array {
  if (rejected === 0) return nothing;
  return bytesField(1, joinFields(numberField(1, rejected), bytesField(2, message)));
}

const nothing = new Uint8Array(0);

export function acceptance(encoding: Encoding, signal: Signal, rejected: number, message: string): Reply {
  if (rejected === 0) return accepted[encoding];
  const headers = { 'content-type': types[encoding] };
  if (encoding === 'protobuf') return { status: 200, headers, body: partialSuccess(rejected, message) };
  const inJson = { [rejectedNames[signal]]: String(rejected), errorMessage: message };
  return { status: 200, headers, body: JSON.stringify({ partialSuccess: inJson }) };
}

/** A refusal as a `google.rpc.Status`. Without a known encoding it is a problem as everywhere. */
export function refusalOf(refusal: ApiError, encoding: Encoding | undefined): Reply {
  const reply = problem(refusal);
  if (encoding === undefined) return reply;
  const message = `${refusal.code}: ${refusal.message}`;
  return {
    ...reply,
    headers: { ...reply.headers, 'content-type': types[encoding] },
    body: encoding === 'json' ? JSON.stringify({ message }) : bytesField(2, message),
  };
}

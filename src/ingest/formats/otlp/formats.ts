import { decodeJson } from './json.ts';
import { decodeProtobuf } from './protobuf.ts';
import type { OtlpRequest, Signal } from './request.ts';

export const encodings = { 'application/x-protobuf': 'protobuf', 'application/json': 'json' } as const;
export type Encoding = (typeof encodings)[keyof typeof encodings];

export type OtlpFormat = `${Signal}-${Encoding}`;

/** Decoders by format. @throws {ApiError} of status 400 or 413 */
export const otlpDecoders: Readonly<Record<OtlpFormat, (body: Uint8Array) => OtlpRequest>> = {
  'logs-protobuf': (body) => decodeProtobuf('logs', body),
  'logs-json': (body) => decodeJson('logs', body),
  'metrics-protobuf': (body) => decodeProtobuf('metrics', body),
  'metrics-json': (body) => decodeJson('metrics', body),
  'traces-protobuf': (body) => decodeProtobuf('traces', body),
  'traces-json': (body) => decodeJson('traces', body),
};

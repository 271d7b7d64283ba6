import { decodeJson } from './json.ts';
import { decodeProtobuf } from './protobuf.ts';
import type { OtlpRequest, Signal } from './request.ts';

/** How a request is encoded, by its content type. */
export const encodings = { 'application/x-protobuf': 'protobuf', 'application/json': 'json' } as const;
export type Encoding = (typeof encodings)[keyof typeof encodings];

export type OtlpFormat = `${Signal}-${Encoding}`;

export function isOtlp(format: string): format is OtlpFormat {
  return /^(logs|metrics|traces)-/.test(format);
}

/** Decodes a request. @throws {ApiError} of status 400 or 413 */
export function decodeOtlp(format: OtlpFormat, body: Uint8Array): OtlpRequest {
  const [signal, encoding] = format.split('-') as [Signal, Encoding];
  return encoding === 'json' ? decodeJson(signal, body) : decodeProtobuf(signal, body);
}

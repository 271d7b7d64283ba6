import { Refusal } from '../contract/errors.ts';
import { inflate } from '../http/body.ts';
import { findInflater, headerBytes, isCompressed } from '../http/grpc-frame.ts';
import { bytesField, joinFields, numberField } from './protobuf.ts';

export interface RpcStatus {
  readonly code: number;
  /** Human-readable message in well-formed Unicode. */
  readonly message: string;
  /** Trailing metadata: the stable code in `flagmeter-code`, and `grpc-status-details-bin` if a retry can succeed. */
  readonly trailers: readonly (readonly [name: string, value: string | Buffer])[];
}

/** The gRPC codes in use (https://grpc.io/docs/guides/status-codes). */
export const rpcCodes = {
  ok: 0,
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const names = (
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED ' +
  'FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'
).split(' ');

export function statusName(code: number): string {
  return names[code]!;
}

export const ok: RpcStatus = { code: rpcCodes.ok, message: '', trailers: [] };

/** gRPC codes by the HTTP status of a refusal. */
const codes: ReadonlyMap<number, number> = new Map([
  [400, rpcCodes.invalidArgument],
  [401, rpcCodes.unauthenticated],
  [403, rpcCodes.permissionDenied],
  [404, rpcCodes.notFound],
  [413, rpcCodes.resourceExhausted],
  [429, rpcCodes.resourceExhausted],
  [501, rpcCodes.unimplemented],
  [503, rpcCodes.unavailable],
  [504, rpcCodes.deadlineExceeded],
]);

export function toRpcStatus(refusal: Refusal): RpcStatus {
  const code = codes.get(refusal.status) ?? rpcCodes.internal;
  const message = Buffer.from(refusal.message).toString();
  const stable = ['flagmeter-code', refusal.code] as const;
  const { retryAfter } = refusal;
  if (retryAfter === undefined) return { code, message, trailers: [stable] };
  const details = retryDetails(code, message, Math.ceil(retryAfter));
  return { code, message, trailers: [stable, ['grpc-status-details-bin', details]] };
}

/** Encodes a `google.rpc.Status` whose only detail is a `google.rpc.RetryInfo`. */
function retryDetails(code: number, message: string, seconds: number): Buffer {
  const delay = numberField(1, seconds);
  const retryInfo = bytesField(1, delay);
  const any = joinFields(bytesField(1, 'type.googleapis.com/google.rpc.RetryInfo'), bytesField(2, retryInfo));
  return joinFields(numberField(1, code), bytesField(2, message), bytesField(3, any));
}

export function tooLarge(maxMessage: number): Refusal {
  return new Refusal('body_too_large', `A message may have at most ${maxMessage} bytes`);
}

export function statusFields({ code, message, trailers }: RpcStatus): (readonly [string, string])[] {
  return [
    ['grpc-status', String(code)],
    ...(message === '' ? [] : [['grpc-message', percentEncode(message)] as const]),
    ...trailers.map(([name, value]) => [name, typeof value === 'string' ? value : unpadded(value)] as const),
  ];
}

/** Encodes binary metadata (`-bin`) without padding, as the gRPC protocol advises. */
function unpadded(value: Buffer): string {
  return value.toString('base64').replace(/=+$/, '');
}

/** Percent-encodes the percent sign and everything except printable ASCII (gRPC over HTTP/2, "Percent-Encoded"). */
function percentEncode(message: string): string {
  const encoded = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const plain = (byte: number) => byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
  return Array.from(Buffer.from(message), (byte) => (plain(byte) ? String.fromCharCode(byte) : encoded(byte))).join('');
}

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/** Parses `grpc-timeout` (gRPC over HTTP/2, "Timeout") to ms: infinite if absent, `undefined` if malformed. */
export function timeoutMs(header: string | undefined): number | undefined {
  if (header === undefined) return Number.POSITIVE_INFINITY;
  const [, value, unit] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? [];
  return value === undefined ? undefined : Number(value) * unitMs[unit!]!;
}

/**
 * @param header `grpc-timeout` of the call
 * @throws {Refusal} `deadline_exceeded` if the deadline has passed; `invalid_protobuf` if the timeout is malformed
 */
export function checkDeadline(header: string | undefined, elapsedMs: number): void {
  if (header === undefined) return;
  const timeout = timeoutMs(header);
  if (timeout === undefined)
    throw new Refusal('invalid_protobuf', 'grpc-timeout must be a number and a unit, such as 500m');
  if (elapsedMs < timeout) return;
  throw new Refusal('deadline_exceeded', 'The deadline passed before the report was accepted; nothing was counted');
}

/** Metadata with which clients send the number of earlier attempts (gRFC A6, "gRPC Client Retries"). */
export const attemptsHeader = 'grpc-previous-rpc-attempts';

export function isRetry(attempts: string | undefined): boolean {
  return /^\d{1,10}$/.test(attempts ?? '') && Number(attempts) > 0;
}

const trailers = 0x80;

/**
 * Returns the message of a complete frame.
 * @param encoding `grpc-encoding`
 * @param limit maximum decompressed length in bytes
 * @throws {Refusal} `message_compressed`; `invalid_content_encoding`; `body_too_large`
 */
export function messageIn(frame: Uint8Array, encoding: string | undefined, limit: number): Uint8Array {
  const message = frame.subarray(headerBytes);
  return isCompressed(frame) ? inflate(message, limit, findInflater(encoding)) : message;
}

export function messageFrame(message: Uint8Array): Buffer {
  return frame(0, message);
}

export function trailersFrame(status: RpcStatus): Buffer {
  const lines = statusFields(status).map(([name, value]) => `${name}: ${value}`);
  return frame(trailers, Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'));
}

function frame(flag: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(headerBytes);
  header[0] = flag;
  header.writeUInt32BE(content.length, 1);
  return Buffer.concat([header, content]);
}

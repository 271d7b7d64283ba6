import { ApiError } from '../contract/errors.ts';
import { bytesField, joinFields, numberField } from './proto-writer.ts';

export interface RpcStatus {
  readonly code: number;
  /** For people; well-formed Unicode. */
  readonly message: string;
  /** Trailing metadata: the stable code as `flagmeter-code`, and `grpc-status-details-bin` if a retry may succeed. */
  readonly trailers: readonly (readonly [name: string, value: string | Buffer])[];
}

/** The gRPC codes in use (https://grpc.io/docs/guides/status-codes). */
export const codeOf = {
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

export const ok: RpcStatus = { code: codeOf.ok, message: '', trailers: [] };

/** The gRPC code of a refusal's HTTP status. */
const codes: ReadonlyMap<number, number> = new Map([
  [400, codeOf.invalidArgument],
  [401, codeOf.unauthenticated],
  [403, codeOf.permissionDenied],
  [404, codeOf.notFound],
  [413, codeOf.resourceExhausted],
  [429, codeOf.resourceExhausted],
  [501, codeOf.unimplemented],
  [503, codeOf.unavailable],
  [504, codeOf.deadlineExceeded],
]);

/** The status of a refused call. */
export function statusOf(refusal: ApiError): RpcStatus {
  const code = codes.get(refusal.status) ?? codeOf.internal;
  const message = Buffer.from(refusal.message).toString();
  const stable = ['flagmeter-code', refusal.code] as const;
  const { retryAfter } = refusal;
  if (retryAfter === undefined) return { code, message, trailers: [stable] };
  const details = retryDetails(code, message, Math.ceil(retryAfter));
  return { code, message, trailers: [stable, ['grpc-status-details-bin', details]] };
}

/** A `google.rpc.Status` whose only detail is a `google.rpc.RetryInfo`. */
function retryDetails(code: number, message: string, seconds: number): Buffer {
  const delay = numberField(1, seconds);
  const retryInfo = bytesField(1, delay);
  const any = joinFields(bytesField(1, 'type.googleapis.com/google.rpc.RetryInfo'), bytesField(2, retryInfo));
  return joinFields(numberField(1, code), bytesField(2, message), bytesField(3, any));
}

/** The refusal of a message that is too large. */
export function tooLarge(maxMessage: number): ApiError {
  return new ApiError('body_too_large', `A message may have at most ${maxMessage} bytes`);
}

export function statusFields({ code, message, trailers }: RpcStatus): (readonly [string, string])[] {
  return [
    ['grpc-status', String(code)],
    ...(message === '' ? [] : [['grpc-message', percentEncode(message)] as const]),
    ...trailers.map(([name, value]) => [name, typeof value === 'string' ? value : unpadded(value)] as const),
  ];
}

/** Binary metadata (`-bin`) is sent without padding, as the gRPC protocol advises. */
function unpadded(value: Buffer): string {
  return value.toString('base64').replace(/=+$/, '');
}

/** Everything but printable ASCII, and the percent sign itself (gRPC over HTTP/2, "Percent-Encoded"). */
function percentEncode(message: string): string {
  const encoded = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const plain = (byte: number) => byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
  return Array.from(Buffer.from(message), (byte) =>
    plain(byte) ? String.fromCharCode(byte) : encoded(byte),
  ).join('');
}

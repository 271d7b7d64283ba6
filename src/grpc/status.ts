import { status } from '@grpc/grpc-js';
import type { ApiError } from '../errors.ts';
import { bytesField, joinFields, numberField } from './proto-writer.ts';

/** How a call ended, as gRPC says it. */
export interface RpcStatus {
  readonly code: number;
  /** For people; well-formed Unicode. */
  readonly message: string;
  /** Trailing metadata: the stable code as `flagmeter-code`, and `grpc-status-details-bin` where waiting helps. */
  readonly trailers: readonly (readonly [name: string, value: string | Buffer])[];
}

/** Which code of gRPC a refusal's HTTP status is. */
const codes: ReadonlyMap<number, number> = new Map([
  [400, status.INVALID_ARGUMENT],
  [401, status.UNAUTHENTICATED],
  [403, status.PERMISSION_DENIED],
  [404, status.NOT_FOUND],
  [413, status.RESOURCE_EXHAUSTED],
  [429, status.RESOURCE_EXHAUSTED],
  [501, status.UNIMPLEMENTED],
  [503, status.UNAVAILABLE],
  [504, status.DEADLINE_EXCEEDED],
]);

/** The status of a refused call. */
export function statusOf(refusal: ApiError): RpcStatus {
  const code = codes.get(refusal.status) ?? status.INTERNAL;
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

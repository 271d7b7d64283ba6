import { ApiError } from '../contract/errors.ts';

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Milliseconds of a `grpc-timeout` (gRPC over HTTP/2, "Timeout"): infinite without one, `undefined` if it is malformed. */
export function timeoutMs(header: string | undefined): number | undefined {
  if (header === undefined) return Number.POSITIVE_INFINITY;
  const [, value, unit] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? [];
  return value === undefined ? undefined : Number(value) * unitMs[unit!]!;
}

/**
 * Refuses a call whose deadline has passed.
 * @param header the call's `grpc-timeout`
 * @throws {ApiError} `deadline_exceeded`; `invalid_protobuf` if the timeout is malformed
 */
export function checkDeadline(header: string | undefined, elapsedMs: number): void {
  if (header === undefined) return;
  const timeout = timeoutMs(header);
  if (timeout === undefined) throw new ApiError('invalid_protobuf', 'grpc-timeout must be like 500m');
  if (elapsedMs < timeout) return;
  throw new ApiError(
    'deadline_exceeded',
    'The deadline passed before the report was accepted; nothing was counted',
  );
}

/** The metadata with the number of earlier attempts of a client (gRFC A6, "gRPC Client Retries"). */
export const attemptsHeader = 'grpc-previous-rpc-attempts';

/** Whether a call is a retry, by the value of `attemptsHeader`. */
export function isRetry(attempts: string | undefined): boolean {
  return /^\d{1,10}$/.test(attempts ?? '') && Number(attempts) > 0;
}

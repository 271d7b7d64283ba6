/** The metadata in which a client tells how often it has tried before (gRFC A6, "gRPC Client Retries"). */
export const attemptsHeader = 'grpc-previous-rpc-attempts';

/** Whether a call is a retry, by the value of `attemptsHeader`. */
export function isRetry(attempts: string | undefined): boolean {
  return /^\d{1,10}$/.test(attempts ?? '') && Number(attempts) > 0;
}

/** The metadata with the number of earlier attempts of a client (gRFC A6, "gRPC Client Retries"). */
export const attemptsHeader = 'grpc-previous-rpc-attempts';

/** Whether a call is a retry, by the value of `attemptsHeader`. */
export function isRetry(attempts: string | undefined): boolean {
  return /^\d{1,10}$/.test(attempts ?? '') && Number(attempts) > 0;
}

/**
 * Every error that the API answers with, under its stable code. `docs/errors.md` has the same table.
 * `status` is the HTTP status. `title` is the short text that is the same for each occurrence.
 */
export const catalogue = {
  // 400
  invalid_content_type: { status: 400, title: 'The route does not accept this content type' },
  invalid_content_encoding: { status: 400, title: 'The body cannot be decoded with its content encoding' },
  invalid_encoding: { status: 400, title: 'The body is not valid UTF-8' },
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_protobuf: {
    status: 400,
    title: 'The message is not valid protobuf, or its gRPC-Web frame is not valid',
  },
  invalid_body: { status: 400, title: 'The body does not have the expected shape' },
  invalid_name: { status: 400, title: 'A name is empty, too long or not allowed' },
  invalid_time: { status: 400, title: 'The time is missing or cannot be read' },
  invalid_idempotency_key: {
    status: 400,
    title: 'The Idempotency-Key is not 1 to 255 printable ASCII characters',
  },
  invalid_identity: {
    status: 400,
    title: 'The identity is missing, too long or contains control characters',
  },
  too_many_points: {
    status: 400,
    title: 'The report would have too many points',
  },
  invalid_path: {
    status: 400,
    title: 'The path is not percent-encoded UTF-8, or could be resolved to another path',
  },
  invalid_head: { status: 400, title: 'The request head is ambiguous' },
  invalid_query: { status: 400, title: 'A query parameter is missing or not valid' },
  // 401
  unauthorized: { status: 401, title: 'A valid bearer token is required' },
  unknown_backend_key: { status: 401, title: 'A Backend key of an application is required' },
  // 403
  origin_missing: { status: 403, title: 'A browser-safe key needs an Origin header' },
  origin_not_allowed: { status: 403, title: 'The application does not allow this origin' },
  not_backend_key: { status: 403, title: 'The key is not a Backend key' },
  forbidden: { status: 403, title: 'The caller is not allowed to do this' },
  not_in_team: { status: 403, title: 'The resource belongs to a team that the caller is not in' },
  plan_limit: { status: 403, title: 'The plan does not allow more of these' },
  // 404, 405
  unknown_key: { status: 404, title: 'No application has this key' },
  unknown_environment: { status: 404, title: 'The application has no such environment' },
  not_found: { status: 404, title: 'The resource does not exist' },
  method_not_allowed: { status: 405, title: 'The route does not allow this method' },
  // 408, 409, 412, 413, 415, 417, 429
  body_too_slow: { status: 408, title: 'The body took too long to arrive' },
  conflict: { status: 409, title: 'The change conflicts with the current state' },
  precondition_failed: { status: 412, title: 'The resource does not match If-Match' },
  body_too_large: { status: 413, title: 'The body is larger than the limit' },
  unsupported_media_type: { status: 415, title: 'The content type is not a gRPC-Web content type' },
  rate_limited: { status: 429, title: 'Too many requests; wait, then back off exponentially' },
  // 5xx
  internal: { status: 500, title: 'The service failed; the log has the cause' },
  message_compressed: { status: 501, title: 'The compression of the message is not supported' },
  backpressure: { status: 503, title: 'Too many packets are waiting for the disk; try again' },
  store_unavailable: { status: 503, title: 'The store cannot take data right now' },
  engine_unavailable: { status: 503, title: 'The engine that all nodes share cannot be reached right now' },
  spool_full: { status: 503, title: 'The spool is full: PostgreSQL is not accepting data' },
  deadline_exceeded: { status: 504, title: 'The deadline passed before the report was accepted' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof catalogue;

/** The details of `store_unavailable` that several places answer with. */
export const storeUnavailable = {
  notReady: 'The store cannot take data; see the log',
  dataNotKept: 'The store did not take the data; nothing of it was kept',
  changeNotKept: 'The store cannot take the change; nothing of it was kept',
  unreadable: 'The store cannot be read; the log has the cause',
} as const;

/** The details of `engine_unavailable`. */
export const engineUnavailable = 'The engine does not answer: this node counts, but cannot manage; try again';

/** The refusal of a request, and its reason. It is shown to the caller, so it must not hold secrets. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  /** Seconds for `Retry-After`. */
  readonly retryAfter: number | undefined;

  /** @param detail what is wrong with this request, and what to do */
  constructor(code: ErrorCode, detail: string, retryAfter?: number) {
    super(detail);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return catalogue[this.code].status;
  }
}

/** Whether the store failed: errors of LMDB, and the system errors that it passes on, have a number as `code`. */
export function isStoreFailure(error: unknown): boolean {
  const isOther = error instanceof DOMException; // Its code is a number too.
  return error instanceof Error && !isOther && typeof (error as { code?: unknown }).code === 'number';
}

/** The refusal that answers a failure. The details of an unexpected failure go to the log only. */
export function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isStoreFailure(error)) return new ApiError('store_unavailable', storeUnavailable.unreadable, 5);
  return new ApiError('internal', 'The request could not be served; the log has the cause');
}

/** The refusal of what needs the engine. Strangers may read it: the log says which host failed, and why. */
export function engineAway(): ApiError {
  return new ApiError('engine_unavailable', engineUnavailable, 2);
}

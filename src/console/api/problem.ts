/** A request that the API refused: an RFC 9457 problem document. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** Stable error code, as in `docs/errors.md`. */
  readonly code: string;
  /** Seconds to wait before the next request, from a response with status 429 or 503. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, detail: string, retryAfter?: number) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** True if a resource does not exist, or belongs to another team. */
export function isHidden(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 404 || isOfOthers(error));
}

/** True if a resource belongs to a team that the reader is not in. */
export function isOfOthers(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'not_in_team';
}

/** A request without a complete response: the browser is offline, or the server is down. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export async function readProblem(response: Response): Promise<ApiProblem> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const { code = 'unknown', detail, title } = await response.json().catch(() => ({}));
  const text = detail ?? title ?? `The server responded with ${response.status}`;
  return new ApiProblem(response.status, code, text, Number.isNaN(retryAfter) ? undefined : retryAfter);
}

export function describeError(error: unknown): string {
  if (error instanceof ApiProblem) return error.message;
  if (error instanceof Unreachable) return 'The server cannot be reached. Nothing was changed; try again.';
  return 'Unexpected error in this page. Reload it.';
}

const maxPauseMs = 30_000;
/** Base of the pause after a failure, ms. If the usual pause is shorter, the usual pause is the base. */
const retryMs = 2000;

/** Statuses of refusals that a repeated request would receive again. */
const final = [400, 403, 404];

/**
 * Computes the pause before a path is read again, ms; `undefined` if it is not read again.
 * @param everyMs the usual pause; `Infinity` for a path that is read once
 * @param failures number of consecutive failures
 * @param error reason of the last failure
 */
export function pauseAfter(everyMs: number, failures: number, error: unknown): number | undefined {
  if (failures === 0) return Number.isFinite(everyMs) ? everyMs : undefined;
  if (isFinal(error)) return undefined;
  const usual = Math.min(maxPauseMs, Math.min(everyMs, retryMs) * 2 ** failures);
  // The server can ask for a longer pause.
  const asked = error instanceof ApiProblem ? (error.retryAfter ?? 0) * 1000 : 0;
  return Math.max(usual, asked);
}

/** True if a repeated request would be refused as well. */
export function isFinal(error: unknown): boolean {
  return error instanceof ApiProblem && final.includes(error.status);
}

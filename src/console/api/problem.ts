/** A request that the API refused: an RFC 9457 problem document. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** A stable code, as in `docs/errors.md`. */
  readonly code: string;
  /** Seconds to wait, of a 429 or 503. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, detail: string, retryAfter?: number) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Whether the reader cannot see something: it does not exist, or belongs to a team of others. */
export function isHidden(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 404 || isOfOthers(error));
}

/** Whether something belongs to a team that the reader is not in. */
export function isOfOthers(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'not_in_team';
}

/** A request that got no answer: the browser is offline, or the server is not there. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** The problem of an answer that is not a success. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const { code = 'unknown', detail, title } = await response.json().catch(() => ({}));
  const text = detail ?? title ?? `The server answered ${response.status}`;
  return new ApiProblem(response.status, code, text, Number.isNaN(retryAfter) ? undefined : retryAfter);
}

/** What to show of a failure. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiProblem) return error.message;
  if (error instanceof Unreachable) return 'The server cannot be reached. Nothing was changed; try again.';
  return 'Something unexpected went wrong in this page. Reload it.';
}

/**
 * Why the engine did not do what was asked.
 * - `unreachable`: no host answers, or none is the primary
 * - `refused`: a host answers, and its certificate, or what the URL says, does not fit: waiting does not help
 * - `deadline`: no answer came in time; the session was ended
 * - `unknown_outcome`: a commit may or may not have been kept; a later synchronous commit tells
 * - `sql`: the server refused the statement; `sqlstate` says why
 */
export type EngineErrorCode = 'unreachable' | 'refused' | 'deadline' | 'unknown_outcome' | 'sql';

/** What the engine did not do. Its message holds no password. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** Five characters (PostgreSQL, appendix A). */
  readonly sqlstate: string | undefined;

  constructor(code: EngineErrorCode, message: string, sqlstate?: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.sqlstate = sqlstate;
  }
}

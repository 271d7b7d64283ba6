/**
 * Why the engine did not do what was asked.
 * - `unreachable`: no host answers, or none is the primary
 * - `refused`: a host answers, and its certificate, or what the URL says, does not fit: waiting does not help
 * - `deadline`: no answer came in time; the session was ended
 * - `unknown_outcome`: a commit may or may not have been kept; a later synchronous commit tells
 * - `sql`: the server refused the statement; `sqlstate` says why
 */
export type PostgresErrorCode = 'unreachable' | 'refused' | 'deadline' | 'unknown_outcome' | 'sql';

/** What the engine did not do. Its message holds no password. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: PostgresErrorCode;
  /** Five characters (PostgreSQL, appendix A). */
  readonly sqlstate: string | undefined;

  constructor(code: PostgresErrorCode, message: string, sqlstate?: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.sqlstate = sqlstate;
  }
}

/** The engine answers, and cannot be used as it is: the message says why, and what to do. */
export class PostgresUnfit extends Error {
  override readonly name = 'PostgresUnfit';
}

/** The refusal of an engine that does not say which it is. */
export function noPostgres(): PostgresUnfit {
  return new PostgresUnfit('The table fm_engine is empty: restore the database from a backup');
}

/** @throws {PostgresUnfit} */
export function noHead(): never {
  throw new PostgresUnfit('The engine has no head of a log: it is being restored, or has to be');
}

/**
 * Puts what the server refused into words, when its reason is how the engine was set up.
 * @throws {PostgresUnfit}
 * @throws {unknown} the error itself, when it is something else
 */
export function unfit(error: unknown): never {
  const { sqlstate, message } = error as PostgresError;
  if (sqlstate === '42P01' || sqlstate === '3F000')
    throw new PostgresUnfit(
      'The database is not prepared: run flagmeter postgres init first, or correct the database or search_path in the URL. If the tables were lost, restore them: flagmeter postgres adopt --from-replica',
    );
  if (sqlstate === '42501')
    throw new PostgresUnfit(
      `The role lacks a right: ${message}. Make it the owner of the tables, or grant it`,
    );
  throw error;
}

/** The server's own errors have a SQLSTATE as `code`, those of the socket the system's. */
export function sqlstateOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/**
 * Whether the server has ended the session along with the statement: it was told to, it went down, or the session was too
 * long in a transaction. What a commit came to is not known then.
 */
export function endsSession(sqlstate: string): boolean {
  return /^(08...|57P0[1-5]|25P03|25P04)$/.test(sqlstate);
}

/** How an engine that cannot be used is set up, by what it refuses with. */
const hints: Readonly<Record<string, string>> = {
  // A prepared statement of another session is there, or the own one is not.
  '42P05': '; a pooler such as PgBouncer must work in session mode',
  '26000': '; a pooler such as PgBouncer must work in session mode',
  '42P10': '; the tables lack their keys: the database is being restored, or has to be',
};

/** What the server refused, in its own words. Its details are left out: they can show rows. */
export function refusal({ message }: Error, sqlstate: string): PostgresError {
  const what = `The engine refused: ${message} (SQLSTATE ${sqlstate})${hints[sqlstate] ?? ''}`;
  return new PostgresError('sql', what, sqlstate);
}

/**
 * Reason why PostgreSQL did not run a statement.
 * - `unreachable`: no host responds, or no responding host is the primary
 * - `refused`: a host responds, but its certificate or the URL is wrong. Waiting does not help
 * - `deadline`: no response arrived in time; the session was closed
 * - `unknown_outcome`: it is unknown whether a commit succeeded. After a later synchronous commit, a query shows the
 *   result
 * - `sql`: the server rejected the statement; see `sqlstate`
 */
type PostgresErrorCode = 'unreachable' | 'refused' | 'deadline' | 'unknown_outcome' | 'sql';

/** Thrown if PostgreSQL did not run a statement, or its result is unknown. The message contains no password. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: PostgresErrorCode;
  /** SQLSTATE of five characters (PostgreSQL, appendix A). */
  readonly sqlstate: string | undefined;

  constructor(code: PostgresErrorCode, message: string, sqlstate?: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.sqlstate = sqlstate;
  }
}

/** Thrown if PostgreSQL responds, but its setup is unsuitable. The message says why, and what to do. */
export class PostgresSetupError extends Error {
  override readonly name = 'PostgresSetupError';
  /** The reason as unauthenticated readers see it: see `publicReason`. */
  readonly publicReason: string;

  constructor(message: string, publicReason = 'PostgreSQL is not set up for this node; see the log') {
    super(message);
    this.publicReason = publicReason;
  }
}

/** Thrown if the database has no tables of flagmeter. */
export class PostgresEmpty extends PostgresSetupError {
  /** @param id id of the database that the data directory of the node has used before */
  constructor(id?: string) {
    const message =
      id === undefined
        ? 'The database is not prepared: run flagmeter postgres init first, or correct the database or search_path in the URL. If the tables were lost, restore them: flagmeter postgres adopt --from-replica'
        : `The database has no tables of flagmeter, and this data directory was used with database ${id}: correct the database or search_path in the URL. Keep the directory: if the tables were lost, the directory can have their last copy, which flagmeter postgres adopt --from-replica restores`;
    super(message, noTables);
  }
}

const noTables = 'The database has no tables of flagmeter';
const incomplete = 'The database is not complete';
const noCommits = 'PostgreSQL does not confirm commits; a synchronous standby might not respond';

/** Returns why PostgreSQL cannot be used, without a host, role or id, for unauthenticated readers. */
export function publicReason(error: Error): string {
  if (error instanceof PostgresSetupError) return error.publicReason;
  if (!(error instanceof PostgresError)) return 'This node cannot follow PostgreSQL; see the log';
  const { code, sqlstate, cause } = error;
  if (sqlstate === '42P01' || sqlstate === '3F000') return noTables;
  if (sqlstate === '01000' || [code, (cause as PostgresError | undefined)?.code].includes('deadline')) return noCommits;
  if (code === 'sql') return 'PostgreSQL rejects the statements of this node; see the log';
  if (code === 'refused') return 'PostgreSQL refuses the sessions of this node; see the log';
  return 'PostgreSQL is unreachable';
}

export function noPostgres(): PostgresSetupError {
  return new PostgresSetupError('The table fm_engine is empty: restore the database from a backup', incomplete);
}

/** @throws {PostgresSetupError} */
export function noHead(): never {
  throw new PostgresSetupError(
    'The table fm_head is empty: restore the database, or wait until the restore has finished',
    incomplete,
  );
}

/**
 * Explains a rejection that is due to the setup of the database.
 * @throws {PostgresSetupError}
 * @throws {unknown} the error itself, if it has another reason
 */
export function throwSetupError(error: unknown): never {
  const { sqlstate, message } = error as PostgresError;
  if (sqlstate === '42P01' || sqlstate === '3F000') throw new PostgresEmpty();
  if (sqlstate === '42501')
    throw new PostgresSetupError(`The role lacks a right: ${message}. Make it the owner of the tables, or grant it`);
  throw error;
}

/** Returns the SQLSTATE of an error of the server. Errors of the socket have the system's code instead. */
export function getSqlstate(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/**
 * True if the server closed the session during a statement: on request, at shutdown, or because a transaction was idle
 * for too long. The result of a commit is then unknown.
 */
export function endsSession(sqlstate: string): boolean {
  return /^(08...|57P0[1-5]|25P03|25P04)$/.test(sqlstate);
}

/** The probable causes of some rejections, by SQLSTATE. */
const hints: Readonly<Record<string, string>> = {
  // A pooler can give this session prepared statements of another session, or lose statements of this session.
  '42P05': '; a pooler such as PgBouncer must work in session mode',
  '26000': '; a pooler such as PgBouncer must work in session mode',
  '42P10': '; the tables lack their keys: the database is being restored, or must be restored',
};

/** Returns the error for a rejected statement. Omits the details of the server's message, which can contain rows. */
export function refusal({ message }: Error, sqlstate: string): PostgresError {
  const what = `PostgreSQL refused: ${message} (SQLSTATE ${sqlstate})${hints[sqlstate] ?? ''}`;
  return new PostgresError('sql', what, sqlstate);
}

import { EngineError } from './engine-error.ts';

/** What `pg` rejects with: the server's own errors have a SQLSTATE as `code`, those of the socket the system's. */
export interface DriverError extends Error {
  readonly code?: string;
}

/** @returns the SQLSTATE when the server has said what is wrong */
export function sqlstateOf(error: unknown): string | undefined {
  const { code } = error as DriverError;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/**
 * Whether the server has ended the session along with the statement: it was told to, it went down, or the session was too
 * long in a transaction. What a commit came to is not known then.
 */
export function endsSession(sqlstate: string): boolean {
  return /^(08...|57P0[1-5]|25P03|25P04)$/.test(sqlstate);
}

/** What the server refused, in its own words. Its details are left out: they can show rows. */
export function refusal(error: unknown): EngineError {
  const sqlstate = sqlstateOf(error);
  const hint = hintOf(sqlstate);
  return new EngineError(
    'sql',
    `The engine refused: ${(error as Error).message} (SQLSTATE ${sqlstate})${hint}`,
    sqlstate,
  );
}

/** What it comes from, when the engine is set up so that this program cannot use it. */
function hintOf(sqlstate: string | undefined): string {
  // A prepared statement of another session is there, or the own one is not.
  if (sqlstate === '42P05' || sqlstate === '26000')
    return '; a pooler such as PgBouncer must work in session mode';
  if (sqlstate === '42P10')
    return '; the tables lack their keys: the database is being restored, or has to be';
  return '';
}

import { UsageError } from '../cli/options.ts';
import { refuseLater } from '../replication/postgres/checks.ts';
import { Connection } from '../replication/postgres/connection.ts';
import { type PostgresKey, readPostgresKey } from '../replication/postgres/postgres-key.ts';
import { type PostgresAddress, PostgresUrlError, parsePostgresUrl } from '../replication/postgres/postgres-url.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import type { Config } from './config/config.ts';

/** Timeout of a statement, ms. A commit can wait for its standby. */
const deadlineMs = 30_000;

/** @throws {UsageError} */
export function postgresAddress(url: string): PostgresAddress {
  try {
    return parsePostgresUrl(url);
  } catch (error) {
    if (error instanceof PostgresUrlError) throw new UsageError(error.message);
    throw error;
  }
}

/** @throws {Error} if the file cannot be used */
export function loadPostgresKey({ postgresKeyFile }: Config): PostgresKey | undefined {
  return postgresKeyFile === undefined ? undefined : readPostgresKey(postgresKeyFile);
}

/**
 * Connects to PostgreSQL for one command. Logs nothing, because the errors describe the failures.
 * @throws {PostgresSetupError} as `refuseLater` does
 */
export async function withPostgres<T>(
  address: PostgresAddress,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const log = createLog('error', () => {}, systemClock);
  const name = 'flagmeter engine';
  const connection = new Connection(address, { name, log, deadlineMs, clock: systemClock, prepare: refuseLater });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

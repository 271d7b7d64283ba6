import { UsageError } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import { settings } from '../contract/config-schema.ts';
import { Connection } from '../replication/postgres/connection.ts';
import {
  type PostgresAddress,
  PostgresUrlError,
  parsePostgresUrl,
} from '../replication/postgres/postgres-url.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import { type Config, loadConfig } from './config.ts';

/** What a command that opens an engine was told about it. */
export interface PostgresSettings {
  readonly config: Config;
  readonly address: PostgresAddress;
}

/** A commit may wait for its standby. */
const deadlineMs = 30_000;

/** @throws {UsageError} for settings that are wrong, or name no engine */
export function postgresSettings(flags: ReadonlyMap<string, string>, terminal: Terminal): PostgresSettings {
  const given = settings.filter(({ flag }) => flags.has(flag));
  const argv = given.map(({ flag }) => `--${flag}=${flags.get(flag)}`);
  const config = loadConfig({ ...terminal, argv });
  if (config.postgres === undefined)
    throw new UsageError(
      'Cannot find the engine: give its URL with --postgres-file, --postgres or FLAGMETER_POSTGRES',
    );
  return { config, address: postgresAddress(config.postgres) };
}

/** @throws {UsageError} */
export function postgresAddress(url: string): PostgresAddress {
  try {
    return parsePostgresUrl(url);
  } catch (error) {
    if (error instanceof PostgresUrlError) throw new UsageError(error.message);
    throw error;
  }
}

/** Opens an engine for one command. What goes wrong is in the error: nothing is logged. */
export async function withPostgres<T>(
  address: PostgresAddress,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const log = createLog('error', () => {}, systemClock);
  const connection = new Connection(address, {
    name: 'flagmeter engine',
    log,
    clock: systemClock,
    deadlineMs,
  });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

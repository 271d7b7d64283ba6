import { randomBytes } from 'node:crypto';
import { readFlags } from '../cli/flags.ts';
import { postgresInitCommand } from '../cli/server-commands.ts';
import type { Terminal } from '../cli/terminal.ts';
import { initPostgres } from '../replication/accounts/init-postgres.ts';
import { readPostgresKey } from '../replication/postgres/postgres-key.ts';
import { systemClock } from '../runtime/clock.ts';
import { postgresSettings, withPostgres } from '../serve/postgres-connection.ts';
import { credentialsText, readAdministrator } from './administrator.ts';

/**
 * Makes the tables of an engine, and prints the first credentials, which are not shown again.
 * @throws {UsageError} for wrong flags, URL, e-mail address or password
 * @throws {PostgresUnfit} it is initialised, or this role may not; nothing has changed then
 * @throws {PostgresError} it cannot be reached, or the outcome is not known
 */
export async function postgresInit(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, postgresInitCommand.flags);
  const administrator = await readAdministrator(flags, terminal);
  const { config, address } = postgresSettings(flags, terminal);
  const { postgresKeyFile, signingAlg } = config;
  const key = postgresKeyFile === undefined ? undefined : readPostgresKey(postgresKeyFile);
  const wanted = { ...administrator, signingAlg, clock: systemClock, randomBytes };
  const init = { key, wanted, allowAsynchronous: flags.has('allow-asynchronous') };
  const { credentials } = await withPostgres(address, (connection) => initPostgres(connection, init));
  terminal.out(flags.has('json') ? `${JSON.stringify(credentials)}\n` : credentialsText(credentials));
  return 0;
}

import { randomBytes } from 'node:crypto';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { encryptPostgres } from '../../replication/accounts/encrypt-postgres.ts';
import { initPostgres } from '../../replication/accounts/init-postgres.ts';
import { newPostgresKey } from '../../replication/postgres/postgres-key.ts';
import { migrate } from '../../replication/postgres/schema.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createFile } from '../../runtime/files.ts';
import { loadPostgresKey, withPostgres } from '../../serve/postgres-connection.ts';
import { credentialsText, readAdministrator } from './administrator.ts';
import { newDatabaseKey, postgresSettings } from './server-options.ts';

/**
 * @throws {UsageError} for wrong options, URL, e-mail address or password
 * @throws {PostgresSetupError} when the database is initialised, or the role lacks a privilege; nothing has changed
 * then
 * @throws {PostgresError} when PostgreSQL cannot be reached, or the result is unknown
 */
export async function postgresInit(given: Arguments, terminal: Terminal): Promise<number> {
  const administrator = await readAdministrator(given, terminal);
  const { config, address } = postgresSettings(given, terminal);
  const { signingAlg } = config;
  const wanted = { ...administrator, signingAlg, clock: systemClock, randomBytes };
  const init = { key: newDatabaseKey(given, config), wanted, allowAsynchronous: given.has('allow-asynchronous') };
  const { credentials } = await withPostgres(address, (connection) => initPostgres(connection, init));
  terminal.out(given.has('json') ? `${JSON.stringify(credentials)}\n` : credentialsText(credentials));
  return 0;
}

/**
 * @throws {UsageError} for wrong options or URL
 * @throws {PostgresSetupError} when the database is not initialised or newer, or a running node does not support the
 * new version; nothing has changed then
 */
export async function postgresMigrate(given: Arguments, terminal: Terminal): Promise<number> {
  const { address } = postgresSettings(given, terminal);
  const { from, to } = await withPostgres(address, migrate);
  const text =
    from === to
      ? `PostgreSQL already has layout ${to}; nothing was changed.\n`
      : `PostgreSQL had layout ${from}, and now has layout ${to}.\n`;
  terminal.out(given.has('json') ? `${JSON.stringify({ from, to })}\n` : text);
  return 0;
}

/** Creates a key file that only its owner can read. @throws {Error} when the file exists */
export function postgresKey(given: Arguments, terminal: Terminal): number {
  const file = given.value('out')!;
  createFile(file, newPostgresKey());
  terminal.out(`The key is in ${file}. Give the same file to postgres init and to each node with --postgres-key-file,
and keep a copy separate from the backups of PostgreSQL: without it, encrypted secrets cannot be read.
`);
  return 0;
}

/**
 * @throws {UsageError} for wrong options or URL, and without a key file
 * @throws {PostgresSetupError} when a node is running, or the database has another key file; nothing has changed then
 */
export async function postgresEncrypt(given: Arguments, terminal: Terminal): Promise<number> {
  const { config, address } = postgresSettings(given, terminal);
  const key = loadPostgresKey(config);
  if (key === undefined)
    throw new UsageError('Cannot encrypt without --postgres-key-file: create a key file with flagmeter postgres key');
  const encrypted = await withPostgres(address, (connection) => encryptPostgres(connection, key));
  const text =
    encrypted === undefined
      ? 'The secrets are already encrypted with this key file; nothing was changed.\n'
      : `Encrypted the secrets of ${encrypted} ${encrypted === 1 ? 'record' : 'records'}. Start each node with --postgres-key-file ${config.postgresKeyFile}.
Earlier backups of PostgreSQL contain them in clear text: delete these backups, or replace the secrets.
`;
  terminal.out(given.has('json') ? `${JSON.stringify({ encrypted: encrypted ?? 0 })}\n` : text);
  return 0;
}

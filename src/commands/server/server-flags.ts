import type { Given, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/flags.ts';
import { settings } from '../../contract/config-schema.ts';
import type { PostgresKey } from '../../replication/postgres/postgres-key.ts';
import type { PostgresAddress } from '../../replication/postgres/postgres-url.ts';
import { type Config, loadConfig } from '../../serve/config/config.ts';
import { postgresAddress, postgresKeyOf } from '../../serve/postgres-connection.ts';

export function configOf(given: Given, terminal: Terminal): Config {
  const flags = settings.map(({ flag }) => flag).filter((flag) => given.has(flag));
  return loadConfig({ ...terminal, argv: flags.map((flag) => `--${flag}=${given.value(flag)}`) });
}

/**
 * @returns `undefined` with `--without-key-file`
 * @throws {UsageError} without either
 */
export function newDatabaseKey(given: Given, config: Config): PostgresKey | undefined {
  const isPlain = given.has('without-key-file');
  if (config.postgresKeyFile !== undefined && isPlain)
    throw new UsageError('Cannot use --without-key-file with --postgres-key-file');
  if (config.postgresKeyFile === undefined && !isPlain)
    throw new UsageError(
      'Cannot store signing keys in PostgreSQL without --postgres-key-file: create a key file with flagmeter postgres key, or store them in clear text with --without-key-file',
    );
  return postgresKeyOf(config);
}

/** @throws {UsageError} for wrong settings, or without the URL of PostgreSQL */
export function postgresSettings(
  given: Given,
  terminal: Terminal,
): { readonly config: Config; readonly address: PostgresAddress } {
  const config = configOf(given, terminal);
  if (config.postgres === undefined)
    throw new UsageError('Cannot find PostgreSQL: give its URL with --postgres-file, --postgres or FLAGMETER_POSTGRES');
  return { config, address: postgresAddress(config.postgres) };
}

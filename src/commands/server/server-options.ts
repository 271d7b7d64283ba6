import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { settings } from '../../contract/config-schema.ts';
import type { PostgresKey } from '../../replication/postgres/postgres-key.ts';
import type { PostgresAddress } from '../../replication/postgres/postgres-url.ts';
import { type Config, loadConfig } from '../../serve/config/config.ts';
import { loadPostgresKey, postgresAddress } from '../../serve/postgres-connection.ts';

export function readConfig(given: Arguments, terminal: Terminal): Config {
  const options = settings.map(({ option }) => option).filter((flag) => given.has(flag));
  return loadConfig({ ...terminal, argv: options.map((option) => `--${option}=${given.value(option)}`) });
}

/**
 * @returns `undefined` with `--without-key-file`
 * @throws {UsageError} without a key file if that option is not given
 */
export function newDatabaseKey(given: Arguments, config: Config): PostgresKey | undefined {
  const isPlain = given.has('without-key-file');
  if (config.postgresKeyFile !== undefined && isPlain)
    throw new UsageError('Cannot use --without-key-file with --postgres-key-file');
  if (config.postgresKeyFile === undefined && !isPlain)
    throw new UsageError(
      'Cannot store signing keys in PostgreSQL without --postgres-key-file: create a key file with flagmeter postgres key, or store them in clear text with --without-key-file',
    );
  return loadPostgresKey(config);
}

/** @throws {UsageError} for wrong settings, or without the URL of PostgreSQL */
export function postgresSettings(
  given: Arguments,
  terminal: Terminal,
): { readonly config: Config; readonly address: PostgresAddress } {
  const config = readConfig(given, terminal);
  if (config.postgres === undefined)
    throw new UsageError('Cannot find PostgreSQL: give its URL with --postgres-file, --postgres or FLAGMETER_POSTGRES');
  return { config, address: postgresAddress(config.postgres) };
}

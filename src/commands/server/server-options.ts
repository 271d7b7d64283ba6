import { accessSync, constants, existsSync } from 'node:fs';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { settings } from '../../contract/config-schema.ts';
import type { PostgresKey } from '../../replication/postgres/postgres-key.ts';
import type { PostgresAddress } from '../../replication/postgres/postgres-url.ts';
import { type Config, loadConfig } from '../../serve/config/config.ts';
import { loadPostgresKey, postgresAddress } from '../../serve/postgres-connection.ts';

/** Settings file of an installed server, which the systemd unit and the Helm chart use. */
const installedConfig = '/etc/flagmeter/flagmeter.json';

/**
 * Reads the settings of a command. On an installed machine, commands use the settings of the server by default.
 * @param known names of the options to read; by default, all settings
 */
export function readConfig(
  given: Arguments,
  terminal: Terminal,
  known: readonly string[] = settings.map(({ option }) => option),
): Config {
  const options = known.filter((option) => given.has(option)).map((option) => `--${option}=${given.value(option)}`);
  const installed = usesInstalled(given, terminal) ? [`--config=${installedConfig}`] : [];
  return loadConfig({ ...terminal, argv: [...installed, ...options] });
}

/** True if the installed file exists, and no other is named. With a named data directory, it must be readable, too. */
function usesInstalled(given: Arguments, { env }: Terminal): boolean {
  if (given.has('config') || env['FLAGMETER_CONFIG'] || !existsSync(installedConfig)) return false;
  const isNamed = given.has('data') || Boolean(env['FLAGMETER_DATA']);
  return !isNamed || isReadable(installedConfig);
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @returns `undefined` with `--without-key-file`
 * @throws {UsageError} if neither a key file nor this option is given
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

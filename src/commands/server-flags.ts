import type { Given } from '../cli/command.ts';
import type { Terminal } from '../cli/terminal.ts';
import { type Config, loadConfig } from '../serve/config.ts';

const names = ['data', 'config', 'postgres', 'postgres-file', 'postgres-key-file', 'backup-key-file'];

/** The settings of a command on a data directory or PostgreSQL, which come from its flags. */
export function configOf(flags: ReadonlyMap<string, string> | Given, terminal: Terminal): Config {
  const given = names.filter((name) => flags.has(name));
  const value = (name: string) => ('get' in flags ? flags.get(name) : flags.value(name));
  return loadConfig({ ...terminal, argv: given.map((name) => `--${name}=${value(name)}`) });
}

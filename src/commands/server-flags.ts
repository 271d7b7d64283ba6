import { type Config, loadConfig } from '../config.ts';
import type { Terminal } from '../terminal.ts';

/** The settings of a command on a data directory: `--data` and `--config` come from its flags. */
export function configOf(flags: ReadonlyMap<string, string>, terminal: Terminal): Config {
  const given = ['data', 'config'].filter((name) => flags.has(name));
  return loadConfig({ ...terminal, argv: given.map((name) => `--${name}=${flags.get(name)}`) });
}

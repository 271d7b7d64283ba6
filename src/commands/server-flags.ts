import type { Given } from '../cli/command.ts';
import type { Terminal } from '../cli/terminal.ts';
import { settings } from '../contract/config-schema.ts';
import { type Config, loadConfig } from '../serve/config.ts';

/** The settings, of which a command takes some as flags. */
export function configOf(flags: ReadonlyMap<string, string> | Given, terminal: Terminal): Config {
  const given = settings.filter(({ flag }) => flags.has(flag));
  const value = (flag: string) => ('get' in flags ? flags.get(flag) : flags.value(flag));
  return loadConfig({ ...terminal, argv: given.map(({ flag }) => `--${flag}=${value(flag)}`) });
}

import { unknownWord } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import { resetPassword } from './reset-password.ts';

const commands = { 'reset-password': resetPassword };

/**
 * Does what its first argument says to a data directory that no server uses.
 * @throws {UsageError} when that is nothing known, and as the subcommand does
 */
export function admin(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || !Object.hasOwn(commands, name))
    throw unknownWord('admin', name, Object.keys(commands));
  return commands[name as keyof typeof commands](rest, terminal);
}

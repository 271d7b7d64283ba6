import { UsageError } from '../flags.ts';
import { nearestKnown } from '../nearest.ts';
import type { Terminal } from '../terminal.ts';
import { resetPassword } from './reset-password.ts';

const commands = { 'reset-password': resetPassword };

/**
 * Does what its first argument says to a data directory that no server uses.
 * @throws {UsageError} when that is nothing known, and as the subcommand does
 */
export function admin(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name = '', ...rest] = argv;
  const names = Object.keys(commands);
  if (name === '') throw new UsageError(`Cannot use admin alone: say ${names.join(', ')}`);
  if (!Object.hasOwn(commands, name)) {
    const known = nearestKnown(name, names, 'admin ') || `: say ${names.join(', ')}`;
    throw new UsageError(`Unknown command admin ${name}${known}`);
  }
  return commands[name as keyof typeof commands](rest, terminal);
}

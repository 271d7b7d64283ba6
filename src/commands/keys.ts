import { contextOf } from '../cli/context.ts';
import { runResource } from '../cli/resource-command.ts';
import type { Terminal } from '../cli/terminal.ts';
import { rotate } from './keys-rotate.ts';

/**
 * Rotates the key that signs tokens, or runs a command on the keys of an application.
 * @throws {UsageError} for an unknown subcommand, and as the subcommand does
 */
export function keys(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'rotate') return rotate(rest, terminal);
  return runResource('keys', argv, contextOf(terminal), ['rotate']);
}

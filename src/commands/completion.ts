import { readGiven } from '../cli/command.ts';
import { bashScript } from '../cli/completion/bash.ts';
import { fishScript } from '../cli/completion/fish.ts';
import { placesOf } from '../cli/completion/places.ts';
import { zshScript } from '../cli/completion/zsh.ts';
import type { Terminal } from '../cli/terminal.ts';
import { commandTable, completionCommand } from './command-table.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/**
 * Prints the completion script of a shell.
 * @throws {UsageError} for another shell
 */
export function completion(argv: readonly string[], terminal: Terminal): number {
  const { operand: shell } = readGiven(completionCommand, argv);
  terminal.out(scripts[shell as keyof typeof scripts](placesOf(commandTable)));
  return 0;
}

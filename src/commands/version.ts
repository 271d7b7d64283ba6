import type { Terminal } from '../cli/command.ts';
import { readOptions } from '../cli/options.ts';
import { describeProgram } from './server/program.ts';

/**
 * Prints the version of the program, its runtime and its platform.
 * @throws {UsageError} for any argument
 */
export function version(argv: readonly string[], terminal: Terminal): number {
  readOptions(argv, []);
  terminal.out(`${describeProgram()}\n`);
  return 0;
}

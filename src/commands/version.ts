import { version as number } from '../../package.json' with { type: 'json' };
import type { Terminal } from '../cli/command.ts';
import { readOptions } from '../cli/options.ts';

/**
 * Prints the version of the program, its runtime and its platform.
 * @throws {UsageError} for any argument
 */
export function version(argv: readonly string[], terminal: Terminal): number {
  readOptions(argv, []);
  const bun = process.versions['bun'];
  const runtime = bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`;
  terminal.out(`flagmeter ${number} (${runtime}, ${process.platform} ${process.arch})\n`);
  return 0;
}

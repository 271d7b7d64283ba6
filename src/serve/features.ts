import { contextOf } from '../cli/context.ts';
import { runResource } from '../cli/resource-command.ts';
import { runScan } from '../cli/scan/run-scan.ts';
import type { Terminal } from '../runtime/terminal.ts';

/**
 * Compares a source tree with what was seen, or runs a command on the features of an application.
 * @throws {UsageError | Failure} as the command does
 */
export function features(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'scan') return runScan(rest, contextOf(terminal));
  return runResource('features', argv, contextOf(terminal), ['scan']);
}

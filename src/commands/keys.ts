import { closest } from 'fastest-levenshtein';
import { UsageError } from '../flags.ts';
import { rotate } from './keys-rotate.ts';
import type { Terminal } from '../terminal.ts';

type Run = (argv: readonly string[], terminal: Terminal) => Promise<number>;

/** What comes after `flagmeter keys`. */
const subcommands: ReadonlyMap<string, Run> = new Map([['rotate', rotate]]);

/**
 * Does what its first argument says, with the arguments after it.
 * @throws {UsageError} when that is nothing known, and as the subcommand does
 */
export function keys([name, ...argv]: readonly string[], terminal: Terminal): Promise<number> {
  const names = [...subcommands.keys()];
  if (name === undefined) throw new UsageError(`Cannot use keys alone: say ${names.join(', ')}`);
  const run = subcommands.get(name);
  if (run !== undefined) return run(argv, terminal);
  throw new UsageError(`Unknown command keys ${name}; the nearest known one is keys ${closest(name, names)}`);
}

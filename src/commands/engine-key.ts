import { writeFileSync } from 'node:fs';
import { engineKeyCommand } from '../cli/engine-commands.ts';
import { readFlags, UsageError } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import { newEngineKey } from '../replication/postgres/engine-key.ts';

/**
 * Makes a key file that its owner alone can read.
 * @throws {UsageError} without `--out`
 * @throws {Error} when the file exists
 */
export function engineKey(argv: readonly string[], terminal: Terminal): number {
  const file = readFlags(argv, engineKeyCommand.flags).get('out');
  if (file === undefined) throw new UsageError('Cannot make a key file without --out');
  try {
    writeFileSync(file, newEngineKey(), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it exists, and is left as it is' : message;
    throw new Error(`Cannot make the key file ${file}: ${why}`);
  }
  terminal.out(`The key is in ${file}. Give the same file to engine init and to each node with --engine-key-file,
and keep a copy apart from the backups of the engine: without it nothing that it encrypts can be read.
`);
  return 0;
}

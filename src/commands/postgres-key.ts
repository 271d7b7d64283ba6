import { writeFileSync } from 'node:fs';
import { readFlags, UsageError } from '../cli/flags.ts';
import { postgresKeyCommand } from '../cli/server-commands.ts';
import type { Terminal } from '../cli/terminal.ts';
import { newPostgresKey } from '../replication/postgres/postgres-key.ts';

/**
 * Makes a key file that its owner alone can read.
 * @throws {UsageError} without `--out`
 * @throws {Error} when the file exists
 */
export function postgresKey(argv: readonly string[], terminal: Terminal): number {
  const file = readFlags(argv, postgresKeyCommand.flags).get('out');
  if (file === undefined) throw new UsageError('Cannot make a key file without --out');
  try {
    writeFileSync(file, newPostgresKey(), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it exists, and is left as it is' : message;
    throw new Error(`Cannot make the key file ${file}: ${why}`);
  }
  terminal.out(`The key is in ${file}. Give the same file to postgres init and to each node with --postgres-key-file,
and keep a copy apart from the backups of the engine: without it nothing that it encrypts can be read.
`);
  return 0;
}

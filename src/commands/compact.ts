import { checkPrepared } from '../accounts/prepare.ts';
import { readGiven } from '../cli/command.ts';
import { compactCommand } from '../cli/server-commands.ts';
import type { Terminal } from '../cli/terminal.ts';
import { type Compacted, compact as compactStores } from '../storage/backup/compact.ts';
import { foldJournals, removeJournals } from '../storage/commit/fold-journals.ts';
import { lockDataDirectory } from '../storage/lmdb/lock.ts';
import { longWork } from './long-work.ts';
import { configOf } from './server-flags.ts';

/**
 * Makes the files of a data directory as small as what they hold.
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the directory is in use, not prepared, or has no room
 */
export async function compact(argv: readonly string[], terminal: Terminal): Promise<number> {
  const given = readGiven(compactCommand, argv);
  const { data, maxIdentities } = configOf(given, terminal);
  checkPrepared(data);
  const lock = lockDataDirectory(data, 'stop it first');
  const files: Compacted[] = [];
  const say = (compacted: Compacted) => {
    files.push(compacted);
    if (!given.has('json')) terminal.out(gain(compacted));
  };
  try {
    await longWork(terminal, {
      words: 'compacting',
      interrupted: 'each file has what it had',
      work: async (pace) => {
        await foldJournals(data, maxIdentities);
        // Spare segments are left, which the next start makes anew.
        removeJournals(data);
        await compactStores(data, pace, say);
      },
    });
    if (given.has('json')) terminal.out(`${JSON.stringify({ files })}\n`);
    return 0;
  } finally {
    lock.release();
  }
}

function gain({ file, before, after }: Compacted): string {
  return `${file}: ${mebibytes(before)} before, ${mebibytes(after)} now, ${mebibytes(before - after)} gained\n`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

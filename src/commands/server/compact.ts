import { checkPrepared } from '../../accounts/prepare.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { type CompactionResult, compact as compactStores } from '../../storage/backup/compact.ts';
import { foldJournals, removeJournals } from '../../storage/commit/fold-journals.ts';
import { lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { longWork, mebibytes } from './progress.ts';
import { readConfig } from './server-options.ts';

/**
 * Rewrites the files of a data directory without free pages.
 * @throws {UsageError} for wrong options
 * @throws {Error} when the directory is in use or not prepared, or its disk is too full
 */
export async function compact(given: Arguments, terminal: Terminal): Promise<number> {
  const { data, maxIdentities } = readConfig(given, terminal);
  checkPrepared(data);
  const lock = lockDataDirectory(data, 'stop it first');
  const files: CompactionResult[] = [];
  try {
    await longWork(terminal, {
      words: 'compacting',
      interrupted: 'no data was changed',
      work: async (pace) => {
        for (const end of await foldJournals(data, maxIdentities)) terminal.err(`${end}\n`);
        // The server creates new segments when it starts.
        removeJournals(data);
        await compactStores(data, pace, (compacted) => files.push(compacted));
      },
    });
    if (given.has('json')) terminal.out(`${JSON.stringify({ files })}\n`);
    return 0;
  } finally {
    // After a failure, the files that were compacted before it are listed as well.
    if (!given.has('json')) terminal.out(files.map(gain).join(''));
    lock.release();
  }
}

function gain({ file, before, after }: CompactionResult): string {
  return `${file}: ${mebibytes(before)} before, ${mebibytes(after)} now, ${mebibytes(before - after)} freed\n`;
}

import type { Given } from '../../cli/command.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { readBackupKey } from '../../storage/backup/backup-key.ts';
import type { Pace } from '../../storage/backup/pace.ts';
import { restore as restoreFrom } from '../../storage/backup/restore.ts';
import { lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { longWork } from './progress.ts';
import { configOf } from './server-flags.ts';

/**
 * Restores a backup to a new data directory.
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the backup is incomplete, or the directory has data; nothing has changed then
 */
export async function restore(given: Given, terminal: Terminal): Promise<number> {
  const { data, backupKeyFile } = configOf(given, terminal);
  const from = given.value('from')!;
  const mayBeUnchecked = given.has('skip-mac-check');
  const key = backupKeyFile === undefined || mayBeUnchecked ? undefined : readBackupKey(backupKeyFile);
  const lock = lockDataDirectory(data);
  try {
    const work = (pace: Pace) => restoreFrom(from, data, pace, { key, mayBeUnchecked });
    const { at, program } = await longWork(terminal, { words: 'restoring', work });
    terminal.err(`${data} has the state of ${at}, when flagmeter ${program} made this backup.\n${sinceThen}`);
    return 0;
  } finally {
    lock.release();
  }
}

const sinceThen = `Access tokens that were invalidated since then are valid again until they expire, and sessions that
ended since then go on: flagmeter signing-keys rotate and new passwords end them.
`;

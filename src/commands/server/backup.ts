import { join, resolve } from 'node:path';
import { checkPrepared } from '../../accounts/prepare.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { systemClock } from '../../runtime/clock.ts';
import { isPresent } from '../../runtime/files.ts';
import type { Config } from '../../serve/config/config.ts';
import { type BackupKey, readBackupKey } from '../../storage/backup/backup-key.ts';
import type { Pace } from '../../storage/backup/pace.ts';
import { restore as restoreFrom } from '../../storage/backup/restore.ts';
import { type Sink, type WrittenBackup, writeBackup } from '../../storage/backup/write-backup.ts';
import { writeFileWhole } from '../../storage/backup/write-file.ts';
import { foldJournals } from '../../storage/commit/fold-journals.ts';
import { attachAccountTables, readCopyState } from '../../storage/lmdb/accounts.ts';
import { isLocked, lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { longWork, mebibytes } from './progress.ts';
import { readConfig } from './server-options.ts';

const standardOutput = '-';

/**
 * Backs up a data directory. A service can be running in the directory.
 * @throws {UsageError} for wrong options
 * @throws {Error} when there is nothing to back up, or the backup cannot be written; the previous file is unchanged
 */
export async function backup(given: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(given, terminal);
  const { data } = config;
  const to = given.value('to')!;
  if (to === standardOutput && terminal.outIsTerminal)
    throw new UsageError('Cannot write a backup to a terminal: redirect standard output, or name a file with --to');
  await checkOwnData(config);
  const began = systemClock.monotonic();
  await foldWithoutServer(config, terminal);
  const gentle = isLocked(data);
  const key = config.backupKeyFile === undefined ? undefined : readBackupKey(config.backupKeyFile);
  const work = (pace: Pace) => writeTo(to, data, pace, key);
  const written = await longWork(terminal, { words: 'backing up', gentle, work });
  const ms = Math.round(systemClock.monotonic() - began);
  // Standard output can contain the backup itself, so the report then goes to standard error.
  const report = to === standardOutput ? terminal.err : terminal.out;
  if (given.has('json')) report(`${JSON.stringify({ file: to, ...written, ms, hasMac: key !== undefined })}\n`);
  else terminal.err(summary(written, to, ms));
  return 0;
}

/**
 * Applies the journal of a killed server to its store. A running server does this itself: see `requestFold`.
 * @throws {Error} if the journal is missing, because the backup would lack its packets
 */
async function foldWithoutServer({ data, maxIdentities }: Config, terminal: Terminal): Promise<void> {
  if (isLocked(data)) return;
  const lock = lockDataDirectory(data, 'run this again once it is ready');
  try {
    for (const end of await foldJournals(data, maxIdentities)) terminal.err(`${end}\n`);
  } finally {
    lock.release();
  }
}

function writeTo(to: string, data: string, pace: Pace, key: BackupKey | undefined): Promise<WrittenBackup> {
  const at = new Date(systemClock.now());
  if (to === standardOutput) return writeBackup(data, at, standardOutputSink(pace), pace, key);
  return writeFileWhole(resolve(to), (sink) => writeBackup(data, at, sink, pace, key));
}

/** Returns a sink for standard output. The reader of the output can be slow, or can close it. */
function standardOutputSink(pace: Pace): Sink {
  const write = (chunk: Buffer) =>
    new Promise<void>((written, failed) =>
      process.stdout.write(chunk, (error) => (error ? failed(cannotWrite(error)) : written())),
    );
  return {
    async write(chunks) {
      for (const chunk of chunks) await pace.wait(write(chunk));
    },
  };
}

function cannotWrite({ code, message }: NodeJS.ErrnoException): Error {
  const reason = code === 'EPIPE' ? 'its reader closed the pipe before the backup was complete' : message;
  return new Error(`Cannot write to standard output: ${reason}`);
}

/** @throws {Error} when the directory belongs to one of several nodes that share PostgreSQL */
async function checkOwnData({ data, postgres }: Pick<Config, 'data' | 'postgres'>): Promise<void> {
  const instead = 'back up PostgreSQL, which has the data of all nodes (docs/cluster.md)';
  if (postgres !== undefined) throw new Error(`Cannot back up a node of several machines: ${instead}`);
  checkPrepared(data);
  const accounts = await attachAccountTables(data);
  const isCopy = readCopyState(accounts.lmdb) !== undefined || isPresent(join(data, 'spool'));
  await accounts.lmdb.close();
  if (isCopy) throw new Error(`Cannot back up ${data}: it belongs to a node of several machines; ${instead}`);
}

function summary({ bytes, at }: WrittenBackup, to: string, ms: number): string {
  const where = to === standardOutput ? 'standard output' : to;
  const rate = Math.round(bytes / 1e6 / (Math.max(1, ms) / 1000));
  return `${where} has the state of ${at}: ${mebibytes(bytes)}, ${rate} MB/s\n`;
}

/**
 * @throws {UsageError} for wrong options
 * @throws {Error} when the backup is incomplete, or the directory has data; nothing has changed then
 */
export async function restore(given: Arguments, terminal: Terminal): Promise<number> {
  const { data, backupKeyFile } = readConfig(given, terminal);
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
ended since then continue: flagmeter signing-keys rotate and new passwords end them.
`;

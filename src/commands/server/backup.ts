import { join, resolve } from 'node:path';
import { checkPrepared } from '../../accounts/prepare.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { systemClock } from '../../runtime/clock.ts';
import { isPresent } from '../../runtime/files.ts';
import type { Config } from '../../serve/config/config.ts';
import { type BackupKey, readBackupKey } from '../../storage/backup/backup-key.ts';
import { backupName } from '../../storage/backup/make-scheduled.ts';
import { isBucket } from '../../storage/backup/open-destination.ts';
import type { Pace } from '../../storage/backup/pace.ts';
import { nameBackup } from '../../storage/backup/read-backup.ts';
import { restore as restoreFrom } from '../../storage/backup/restore.ts';
import { type Sink, type WrittenBackup, writeBackup } from '../../storage/backup/write-backup.ts';
import { writeFileWhole } from '../../storage/backup/write-file.ts';
import { foldJournals } from '../../storage/commit/fold-journals.ts';
import { attachAccountTables, readCopyState } from '../../storage/lmdb/accounts.ts';
import { isLocked, lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { findBackup, openPlace, standardStream } from './backup-source.ts';
import { longWork, mebibytes } from './progress.ts';
import { readConfig } from './server-options.ts';

/**
 * Backs up a data directory. A service can be running in the directory.
 * @throws {UsageError} for wrong options
 * @throws {Error} when there is nothing to back up, or the backup cannot be written; the previous file is unchanged
 */
export async function backup(given: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(given, terminal);
  const { data } = config;
  const to = given.value('to')!;
  checkTarget(to, terminal);
  await checkOwnData(config);
  const began = systemClock.monotonic();
  await foldWithoutServer(config, terminal);
  const gentle = isLocked(data);
  const key = config.backupKeyFile === undefined ? undefined : readBackupKey(config.backupKeyFile);
  const work = (pace: Pace, over: AbortSignal) => writeTo(to, config, key, pace, over);
  const interrupted = isBucket(to) ? 'the bucket has no part of the backup' : 'nothing was changed';
  const written = await longWork(terminal, { words: 'backing up', gentle, interrupted, work });
  const ms = Math.round(systemClock.monotonic() - began);
  // Standard output can contain the backup itself, so the report then goes to standard error.
  const report = to === standardStream ? terminal.err : terminal.out;
  if (given.has('json')) report(`${JSON.stringify({ ...written, ms, hasMac: key !== undefined })}\n`);
  else terminal.err(summary(written, ms));
  return 0;
}

/** @throws {UsageError} for a terminal, and for the name of an object in a bucket */
function checkTarget(to: string, { outIsTerminal }: Terminal): void {
  if (to === standardStream && outIsTerminal)
    throw new UsageError('Cannot write a backup to a terminal: redirect standard output, or name a file with --to');
  if (isBucket(to) && to.endsWith('.backup'))
    throw new UsageError('Cannot use --to: give s3://BUCKET/PREFIX; the backup is named after its time');
}

type NamedBackup = WrittenBackup & { readonly file: string };

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

async function writeTo(
  to: string,
  config: Config,
  key: BackupKey | undefined,
  pace: Pace,
  over: AbortSignal,
): Promise<NamedBackup> {
  const at = new Date(systemClock.now());
  const write = (sink: Sink) => writeBackup(config.data, at, sink, pace, key);
  if (to === standardStream) return { file: to, ...(await write(standardOutputSink(pace))) };
  if (!isBucket(to)) return { file: to, ...(await writeFileWhole(resolve(to), write)) };
  const bucket = await openPlace(to, { by: '--to', action: 'write' }, config, over);
  const name = backupName(at.getTime());
  return { file: `${to.replace(/\/$/, '')}/${name}`, ...(await bucket.put(name, write, pace)) };
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

function summary({ file, bytes, at }: NamedBackup, ms: number): string {
  const where = file === standardStream ? 'standard output' : file;
  const rate = Math.round(bytes / 1e6 / (Math.max(1, ms) / 1000));
  return `${where} has the state of ${at}: ${mebibytes(bytes)}, ${rate} MB/s\n`;
}

/**
 * @throws {UsageError} for wrong options
 * @throws {Error} when the backup is incomplete, or the directory has data; nothing has changed then
 */
export async function restore(given: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(given, terminal);
  const { data, backupKeyFile } = config;
  const wanted = { from: given.value('from')!, by: '--from', latest: given.has('latest') };
  const mayBeUnchecked = given.has('skip-mac-check');
  const key = backupKeyFile === undefined || mayBeUnchecked ? undefined : readBackupKey(backupKeyFile);
  const lock = lockDataDirectory(data);
  try {
    const work = async (pace: Pace, over: AbortSignal) => {
      const source = await findBackup(wanted, config, pace, over);
      return { name: nameBackup(source), ...(await restoreFrom(source, data, pace, { key, mayBeUnchecked })) };
    };
    const { name, at, program } = await longWork(terminal, { words: 'restoring', work });
    terminal.err(`${data} has the state of ${at}, when flagmeter ${program} made ${name}.\n${sinceThen}`);
    return 0;
  } finally {
    lock.release();
  }
}

const sinceThen = `Access tokens that were invalidated since then are valid again until they expire, and sessions that
ended since then continue: flagmeter signing-keys rotate and new passwords end them.
`;

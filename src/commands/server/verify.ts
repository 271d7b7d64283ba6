import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { writable } from '../../runtime/files.ts';
import type { Config } from '../../serve/config/config.ts';
import { readBackupKey } from '../../storage/backup/backup-key.ts';
import { checkDirectory, type Finding } from '../../storage/backup/check-directory.ts';
import type { Pace } from '../../storage/backup/pace.ts';
import { type BackupSource, nameBackup, type ReadBackup } from '../../storage/backup/read-backup.ts';
import { checkRoomFor, unpack } from '../../storage/backup/restore.ts';
import { checkPresence, dataFilesIn, remedy } from '../../storage/lmdb/data-directory.ts';
import { lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { findBackup, isPlace } from './backup-source.ts';
import { longWork } from './progress.ts';
import { readConfig } from './server-options.ts';

/**
 * Checks all files of a data directory that no service uses, or a backup.
 * @returns exit code: 0 when all is intact, 1 when something is damaged
 * @throws {UsageError} for wrong options
 * @throws {Error} when the directory is not prepared or in use, or the backup is incomplete
 */
export async function verify(given: Arguments, terminal: Terminal): Promise<number> {
  const { operand } = given;
  if (operand !== '' && given.has('data'))
    throw new UsageError(`Cannot verify ${operand} with --data: give either the file or --data`);
  const config = readConfig(given, terminal);
  const report = new Report();
  let advice = `Do not start a service on ${config.data}: ${remedy}.`;
  let isSound = false;
  try {
    if (operand === '') isSound = await verifyData(config.data, terminal, report);
    else {
      isSound = await verifyBackup(operand, config, terminal, report);
      advice = `Do not restore ${report.file}: use another backup.`;
    }
  } finally {
    // After a failure, the findings before it are listed as well.
    if (!given.has('json')) terminal.out(report.format());
  }
  if (given.has('json')) terminal.out(`${report.formatJson(isSound, advice)}\n`);
  else if (!isSound) terminal.err(`${advice}\n`);
  return isSound ? 0 : 1;
}

/** Returns the commands that check a directory while a server uses it. */
function formatCheckCommands(data: string): string {
  return `flagmeter backup --data ${data} --to FILE, then flagmeter verify FILE`;
}

async function verifyData(data: string, terminal: Terminal, report: Report): Promise<boolean> {
  if (dataFilesIn(data).length === 0)
    throw new Error(`Cannot verify ${data}: it is not a prepared data directory; specify one with --data`);
  const lock = lockDataDirectory(data, `stop it first, or check a copy: ${formatCheckCommands(data)}`);
  try {
    checkPresence(data);
    const work = (pace: Pace) => checkDirectory(data, pace, (finding) => report.findings.push(finding));
    return await longWork(terminal, { words: 'checking', work });
  } finally {
    lock.release();
  }
}

/** Restores the backup to a temporary directory, and checks the restored directory. */
async function verifyBackup(from: string, config: Config, terminal: Terminal, report: Report): Promise<boolean> {
  const { backupKeyFile } = config;
  const key = backupKeyFile === undefined ? undefined : readBackupKey(backupKeyFile);
  const authentication = { key, mayBeUnchecked: true };
  const work = async (pace: Pace, over: AbortSignal) => {
    const source = await findBackup({ from, by: 'FILE', latest: isPlace(from) }, config, pace, over);
    report.file = nameBackup(source);
    return withTemporary(source, async (directory) => {
      report.backup = await unpack(source, directory, pace, authentication);
      return checkDirectory(directory, pace, (finding) =>
        report.findings.push({ ...finding, file: finding.file.replace(directory, report.file) }),
      );
    });
  };
  return longWork(terminal, { words: 'checking', work });
}

/** Creates a directory next to the file of a backup; for a backup from elsewhere, creates it in `TMPDIR`. */
async function withTemporary<T>(source: BackupSource, use: (directory: string) => Promise<T>): Promise<T> {
  const place = typeof source === 'string' ? resolve(source) : join(tmpdir(), 'flagmeter');
  checkRoomFor(source, place);
  const copy = 'copy the backup to a directory that this user can write to';
  const directory = writable(`${place}.verify-…`, copy, () => mkdtempSync(`${place}.verify-`));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const macTexts = {
  none: 'has no MAC',
  unchecked: 'has a MAC that was not checked: give --backup-key-file',
  checked: 'has the MAC of this key',
} as const;

/** Collects the results, which are printed below the progress. */
class Report {
  file = '';
  backup: Pick<ReadBackup, 'at' | 'program' | 'mac'> | undefined;
  readonly findings: Finding[] = [];

  format(): string {
    const found = this.findings.map(({ file, words }) => `${file}: ${words}\n`).join('');
    if (this.backup === undefined) return found;
    const { at, program, mac } = this.backup;
    return `${this.file}: complete, from flagmeter ${program}, of ${at}; ${macTexts[mac]}\n${found}`;
  }

  /** @param advice what to do about damage */
  formatJson(isSound: boolean, advice: string): string {
    const { findings } = this;
    const { at, program, mac } = this.backup ?? {};
    const backup = this.backup && { at, program, mac };
    return JSON.stringify({ isSound, ...(backup && { backup }), findings, ...(!isSound && { advice }) });
  }
}

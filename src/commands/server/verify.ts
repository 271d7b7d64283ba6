import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { readBackupKey } from '../../storage/backup/backup-key.ts';
import { checkDirectory, type Finding } from '../../storage/backup/check-directory.ts';
import type { Pace } from '../../storage/backup/pace.ts';
import { type Authentication, type ReadBackup, readBackup } from '../../storage/backup/read-backup.ts';
import { unpack } from '../../storage/backup/restore.ts';
import { checkRoom } from '../../storage/backup/write-file.ts';
import { checkPresence, dataFilesIn, remedy } from '../../storage/lmdb/data-directory.ts';
import { lockDataDirectory } from '../../storage/lmdb/lock.ts';
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
  const { data, backupKeyFile } = readConfig(given, terminal);
  const report = given.has('json') ? jsonReport(terminal) : textReport(terminal);
  const isSound = await (operand === ''
    ? verifyData(data, terminal, report)
    : verifyBackup(operand, backupKeyFile, terminal, report));
  report.end(
    isSound,
    operand === '' ? `Do not start a service on ${data}: ${remedy}.` : `Do not restore ${operand}: use another backup.`,
  );
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
    const work = (pace: Pace) => checkDirectory(data, pace, report.found);
    return await longWork(terminal, { words: 'checking', work });
  } finally {
    lock.release();
  }
}

/** Restores the backup to a temporary directory next to it, and checks the restored directory. */
async function verifyBackup(
  file: string,
  keyFile: string | undefined,
  terminal: Terminal,
  report: Report,
): Promise<boolean> {
  const key = keyFile === undefined ? undefined : readBackupKey(keyFile);
  const authentication = { key, mayBeUnchecked: true };
  const work = async (pace: Pace) => {
    const { at, program, mac } = await readBackup(file, {}, pace, authentication);
    report.whole(file, { at, program, mac });
    return checkRestored(file, authentication, report, pace);
  };
  return longWork(terminal, { words: 'checking', work });
}

const macTexts = {
  none: 'has no MAC',
  unchecked: 'has a MAC that was not checked: give --backup-key-file',
  checked: 'has the MAC of this key',
} as const;

async function checkRestored(
  file: string,
  authentication: Authentication,
  report: Report,
  pace: Pace,
): Promise<boolean> {
  checkRoom(resolve(file), statSync(file).size);
  const directory = mkdtempSync(`${resolve(file)}.verify-`);
  try {
    await unpack(file, directory, pace, authentication);
    return await checkDirectory(directory, pace, (finding) =>
      report.found({ ...finding, file: finding.file.replace(directory, file) }),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

type Whole = Pick<ReadBackup, 'at' | 'program' | 'mac'>;

interface Report {
  whole(file: string, backup: Whole): void;
  found(finding: Finding): void;
  /** @param advice what to do about damage */
  end(isSound: boolean, advice: string): void;
}

function textReport({ out, err }: Terminal): Report {
  return {
    whole: (file, { at, program, mac }) =>
      out(`${file}: complete, from flagmeter ${program}, of ${at}; ${macTexts[mac]}\n`),
    found: ({ file, words }) => out(`${file}: ${words}\n`),
    end: (isSound, advice) => {
      if (!isSound) err(`${advice}\n`);
    },
  };
}

/** Creates a report that prints one JSON object at the end. */
function jsonReport({ out }: Terminal): Report {
  const findings: Finding[] = [];
  let backup: Whole | undefined;
  return {
    whole: (_, whole) => {
      backup = whole;
    },
    found: (finding) => void findings.push(finding),
    end: (isSound, advice) =>
      out(`${JSON.stringify({ isSound, ...(backup && { backup }), findings, ...(!isSound && { advice }) })}\n`),
  };
}

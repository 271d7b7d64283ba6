import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkDirectory, type Finding } from '../backup/check-directory.ts';
import type { Pace } from '../backup/pace.ts';
import { readBackup } from '../backup/read-backup.ts';
import { unpack } from '../backup/restore.ts';
import { checkRoom } from '../backup/write-file.ts';
import { readGiven } from '../cli/command.ts';
import { UsageError } from '../flags.ts';
import { checkPresence, dataFilesIn, remedy } from '../store/data-file.ts';
import { lockDataDirectory } from '../store/lock.ts';
import type { Terminal } from '../terminal.ts';
import { longWork } from './long-work.ts';
import { verifyCommand } from './server-commands.ts';
import { configOf } from './server-flags.ts';

/**
 * Checks all files of a data directory, or a backup. No service may use the directory at the same time.
 * @returns exit code: 0 when all is in order, 1 when something is damaged
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the directory is not prepared, or is in use, or the backup is not whole
 */
export async function verify(argv: readonly string[], terminal: Terminal): Promise<number> {
  const given = readGiven(verifyCommand, argv);
  const { operand } = given;
  if (operand !== '' && given.has('data'))
    throw new UsageError(`Cannot verify ${operand} with --data: leave out one`);
  return operand === ''
    ? verifyData(configOf(given, terminal).data, terminal)
    : verifyBackup(operand, terminal);
}

/** How a directory in use is checked. */
function copyOf(data: string): string {
  return `flagmeter backup --data ${data} --to FILE, then flagmeter verify FILE`;
}

async function verifyData(data: string, terminal: Terminal): Promise<number> {
  if (dataFilesIn(data).length === 0)
    throw new Error(`Cannot verify ${data}: it is not a prepared data directory; name one with --data`);
  const lock = lockDataDirectory(data, `stop it first, or check a copy: ${copyOf(data)}`);
  try {
    checkPresence(data);
    const work = (pace: Pace) => checkDirectory(data, pace, sayIn(terminal));
    const isSound = await longWork(terminal, { words: 'checking', work });
    if (!isSound) terminal.err(`Do not start a service on ${data}: ${remedy}.\n`);
    return isSound ? 0 : 1;
  } finally {
    lock.release();
  }
}

/** It is restored into a directory beside it, which is removed: what can be restored and is in order then is a good backup. */
async function verifyBackup(file: string, terminal: Terminal): Promise<number> {
  const work = async (pace: Pace) => {
    const { at, program } = await readBackup(file, {}, pace);
    terminal.out(`${file}: whole, from flagmeter ${program}, of ${at}\n`);
    return checkRestored(file, terminal, pace);
  };
  const isSound = await longWork(terminal, { words: 'checking', work });
  if (!isSound) terminal.err(`Do not restore ${file}: take another backup.\n`);
  return isSound ? 0 : 1;
}

async function checkRestored(file: string, terminal: Terminal, pace: Pace): Promise<boolean> {
  checkRoom(resolve(file), statSync(file).size);
  const directory = mkdtempSync(`${resolve(file)}.verify-`);
  const say = sayIn(terminal);
  try {
    await unpack(file, directory, pace);
    return await checkDirectory(directory, pace, (finding) =>
      say({ ...finding, file: finding.file.replace(directory, file) }),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function sayIn({ out }: Terminal): (finding: Finding) => void {
  return ({ file, words }) => out(`${file}: ${words}\n`);
}

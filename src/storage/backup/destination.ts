import { accessSync, constants, lstatSync, readdirSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { explainFileError, findStatus } from '../../runtime/files.ts';
import type { Pace } from './pace.ts';
import type { BackupSource } from './read-backup.ts';
import type { Sink, WrittenBackup } from './write-backup.ts';
import { writeFileWhole } from './write-file.ts';

export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
}

/** A place for backups that are named after their time. */
export interface Destination {
  files(): Promise<readonly StoredFile[]>;
  /** Opens a file for reading. */
  open(file: StoredFile): BackupSource;
  /** Stores the output of `write` under a name. The name appears once the file is complete. */
  put(name: string, write: (sink: Sink) => Promise<WrittenBackup>, pace: Pace): Promise<WrittenBackup>;
  remove(name: string, pace: Pace): Promise<void>;
}

/** Access to a destination that a caller needs. */
export type Action = 'read' | 'write';

const leftOver = /^flagmeter-[\dTZ-]+\.backup\.\d+\.tmp$/;

/**
 * Keeps backups in a directory, which must exist. A missing directory is not created: its volume might not be mounted,
 * and backups would then fill the disk that they protect.
 */
export function folderDestination(folder: string, action: Action = 'write'): Destination {
  return {
    async files() {
      checkFolder(folder, action);
      return filesIn(folder);
    },
    open: ({ name }) => join(folder, name),
    async put(name, write) {
      checkFolder(folder);
      for (const left of filesIn(folder).filter((each) => leftOver.test(each.name))) rmSync(join(folder, left.name));
      return writeFileWhole(join(folder, name), write);
    },
    remove: (name, pace) => removeGently(join(folder, name), pace),
  };
}

function filesIn(folder: string): StoredFile[] {
  return readdirSync(folder).flatMap((name) => {
    // Skips a file that was removed since the directory was listed.
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return found === undefined || found.isDirectory() ? [] : [{ name, bytes: found.size }];
  });
}

/** @throws {Error} with the remedy, if backups cannot be written to the directory, or read from it */
export function checkFolder(folder: string, action: Action = 'write'): void {
  const toWrite = action === 'write';
  const cannot = toWrite ? `Cannot write backups to ${folder}` : `Cannot read backups in ${folder}`;
  const found = findStatus(folder);
  if (found === undefined)
    throw new Error(
      `${cannot}: no such directory; ${toWrite ? 'create it' : 'name another directory'}, or mount its volume`,
    );
  if (!found.isDirectory()) throw new Error(`${cannot}: not a directory`);
  try {
    accessSync(folder, constants.R_OK | constants.X_OK | (toWrite ? constants.W_OK : 0));
  } catch (error) {
    throw new Error(`${cannot}: ${explainFileError(error, folder)}`);
  }
}

/** Bytes to free per step, and the pause between steps, ms. */
const stepBytes = 16 * 1024 * 1024;
const restMs = 20;

/**
 * Removes a large file step by step. Freeing some hundred MiB in one step would be one transaction of the file system,
 * for which commits of the service would wait a tenth of a second. A file with other hard links is only unlinked.
 * @throws {InterruptedError} if the task is interrupted. The rest of the file is then removed immediately
 */
export async function removeGently(file: string, pace: Pace): Promise<void> {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  const going = `${file}.${process.pid}.tmp`;
  renameSync(file, going);
  try {
    for (let left = sizeOfOwn(going) - stepBytes; left > 0 && cut(going, left); left -= stepBytes)
      await pace.wait(pause(restMs));
  } finally {
    rmSync(going);
  }
}

/** Number of bytes that removing a file frees: 0 for a symbolic link, and for a file with several hard links. */
function sizeOfOwn(path: string): number {
  const stat = lstatSync(path);
  return stat.isFile() && stat.nlink === 1 ? stat.size : 0;
}

/** Truncates a file. @returns false if this user can only remove the file, for example because another user owns it */
function cut(path: string, length: number): boolean {
  try {
    truncateSync(path, length);
    return true;
  } catch {
    return false;
  }
}

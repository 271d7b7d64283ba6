import { readBackupKey } from './backup-key.ts';
import type { Destination, StoredFile } from './destination.ts';
import { InterruptedError, type Pace } from './pace.ts';
import { type Sink, writeBackup } from './write-backup.ts';

export interface ScheduledSettings {
  readonly data: string;
  /** A directory, or `s3://BUCKET/PREFIX`. */
  readonly to: string;
  readonly keep: number;
  readonly s3: S3Settings;
  /** Path of the key file for MACs. The file is read for each backup, so a new key needs no restart. */
  readonly keyFile: string | undefined;
}

export interface S3Settings {
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Path of a credentials file. If it is `undefined`, the credentials come from the environment. */
  readonly credentials: string | undefined;
}

interface MadeBackup {
  readonly name: string;
  readonly bytes: number;
  readonly removed: number;
  /** Reason why an older backup was not removed, for people; empty if all were removed. */
  readonly unremoved: string;
}

export interface StoredBackup extends StoredFile {
  /** Time in the name, Unix ms. */
  readonly at: number;
}

/** Lists the backups at a destination, the oldest first. Files with other names are left out. */
export async function listBackups(destination: Destination): Promise<readonly StoredBackup[]> {
  return findBackups(await destination.files());
}

/** Returns the files that are named like a scheduled backup, the oldest first. */
export function findBackups(files: readonly StoredFile[]): readonly StoredBackup[] {
  const backups = files.flatMap((file) => {
    const at = timeOfBackup(file.name);
    return at === undefined ? [] : [{ ...file, at }];
  });
  return backups.sort((a, b) => a.at - b.at);
}

/**
 * Makes a backup, and removes the oldest backups. Other files are not touched. The new backup succeeds even if an old
 * backup cannot be removed, because retries would fill the destination.
 */
export async function makeScheduled(
  destination: Destination,
  { data, keep, keyFile, at }: Pick<ScheduledSettings, 'data' | 'keep' | 'keyFile'> & { readonly at: number },
  pace: Pace,
): Promise<MadeBackup> {
  const name = backupName(at);
  const key = keyFile === undefined ? undefined : readBackupKey(keyFile);
  const write = (sink: Sink) => writeBackup(data, new Date(at), sink, pace, key);
  const { bytes } = await destination.put(name, write, pace);
  return { name, bytes, ...(await removeSurplus(destination, keep, pace)) };
}

async function removeSurplus(
  destination: Destination,
  keep: number,
  pace: Pace,
): Promise<Pick<MadeBackup, 'removed' | 'unremoved'>> {
  let removed = 0;
  try {
    const backups = await listBackups(destination);
    for (const { name } of backups.slice(0, Math.max(0, backups.length - keep))) {
      await destination.remove(name, pace);
      removed += 1;
    }
    return { removed, unremoved: '' };
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    return { removed, unremoved: (error as Error).message };
  }
}

const pattern = /^flagmeter-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z\.backup$/;

/** The name of a scheduled backup. Names sort by time. */
export function backupName(at: number): string {
  return `flagmeter-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`;
}

/** The time in the name of a backup; `undefined` if the name has another form. */
export function timeOfBackup(name: string): number | undefined {
  const [, hour, minute, second] = pattern.exec(name) ?? [];
  if (hour === undefined) return undefined;
  const at = Date.parse(`${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}

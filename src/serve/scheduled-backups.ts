import { readBackupKey } from '../storage/backup/backup-key.ts';
import { BackupThread } from '../storage/backup/backup-thread.ts';
import { Schedule } from '../storage/backup/schedule.ts';
import type { StorageDeps } from './storage.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The schedule of backups, if configured. @throws {Error} when the key file cannot be used */
export function scheduleOf({
  config,
  clock,
  log,
  workerFile,
}: Pick<StorageDeps, 'config' | 'clock' | 'log' | 'workerFile'>): Schedule | undefined {
  const { data, backupEvery, backupTo, backupKeep: keep, backupKeyFile: keyFile } = config;
  if (backupEvery === undefined || backupTo === undefined) return undefined;
  const everyMs = Number.parseInt(backupEvery, 10) * unitMs[backupEvery.at(-1) as keyof typeof unitMs];
  const s3 = {
    endpoint: config.backupS3Endpoint,
    region: config.backupS3Region,
    credentials: config.backupS3Credentials,
  };
  if (keyFile !== undefined) readBackupKey(keyFile);
  const thread = new BackupThread(workerFile('storage/backup/worker'), {
    data,
    to: backupTo,
    keep,
    s3,
    keyFile,
  });
  return new Schedule({ clock, log, everyMs, thread });
}

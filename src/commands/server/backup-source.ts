import { basename, dirname } from 'node:path';
import Value from 'typebox/value';
import { UsageError } from '../../cli/options.ts';
import { settings } from '../../contract/config-schema.ts';
import { findStatus } from '../../runtime/files.ts';
import type { Config } from '../../serve/config/config.ts';
import { getS3Settings } from '../../serve/config/limits.ts';
import type { Action, Destination } from '../../storage/backup/destination.ts';
import { listBackups, timeOfBackup } from '../../storage/backup/make-scheduled.ts';
import { isBucket, openDestination } from '../../storage/backup/open-destination.ts';
import type { Pace } from '../../storage/backup/pace.ts';
import { type BackupSource, openStandardInput } from '../../storage/backup/read-backup.ts';

/** The name of standard input and standard output as an argument. */
export const standardStream = '-';

/**
 * Opens a place for backups with the settings of the server.
 * @param by the argument that names the place, for messages
 * @throws {UsageError} for a malformed address. The message omits the address, which can contain a secret by mistake
 */
export function openPlace(
  to: string,
  { by, action }: { readonly by: string; readonly action: Action },
  config: Config,
  over: AbortSignal,
): Promise<Destination> {
  const { schema } = settings.find(({ key }) => key === 'backupTo')!;
  if (!Value.Check(schema, to)) throw new UsageError(`Cannot use ${by}: must ${schema.must}`);
  return openDestination({ to, s3: getS3Settings(config), data: config.data }, over, action);
}

interface WantedBackup {
  /** A file, `-`, or a place for backups. */
  readonly from: string;
  /** The argument that names the backup, for messages. */
  readonly by: string;
  /** True to take the latest backup of a place. */
  readonly latest: boolean;
}

/**
 * Finds a backup: a file, standard input, an object of a bucket, or the latest backup of a place.
 * @throws {UsageError} for a place without `latest`
 * @throws {Error} if the place has no such backup
 */
export async function findBackup(
  wanted: WantedBackup,
  config: Config,
  pace: Pace,
  over: AbortSignal,
): Promise<BackupSource> {
  const { from, by, latest } = wanted;
  if (latest) return findIn(from, undefined, wanted, config, over);
  if (from === standardStream) return openStandardInput(pace);
  if (!isBucket(from)) return from;
  if (timeOfBackup(basename(from)) !== undefined) return findIn(dirname(from), basename(from), wanted, config, over);
  throw new UsageError(
    `Cannot use ${by}: add the name of a backup, or --latest; flagmeter backup list shows the names`,
  );
}

/** @param name name of the backup; `undefined` for the latest backup */
async function findIn(
  place: string,
  name: string | undefined,
  { by }: WantedBackup,
  config: Config,
  over: AbortSignal,
): Promise<BackupSource> {
  const destination = await openPlace(place, { by, action: 'read' }, config, over);
  const backups = await listBackups(destination);
  const found = name === undefined ? backups.at(-1) : backups.find((backup) => backup.name === name);
  if (found === undefined)
    throw new Error(`Cannot find ${name ?? 'a backup'} in ${place}: ${describeBackups(backups.length)}`);
  return destination.open(found);
}

function describeBackups(count: number): string {
  if (count === 0) return 'it has no files named flagmeter-TIME.backup';
  return `it has ${count} other ${count === 1 ? 'backup' : 'backups'}; flagmeter backup list shows the names`;
}

/** True for a place that holds backups: a bucket without the name of a backup, or a directory. */
export function isPlace(from: string): boolean {
  if (isBucket(from)) return timeOfBackup(basename(from)) === undefined;
  return from !== standardStream && findStatus(from)?.isDirectory() === true;
}

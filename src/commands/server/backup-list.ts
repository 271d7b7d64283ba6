import type { Arguments, Terminal } from '../../cli/command.ts';
import { createContext } from '../../cli/context.ts';
import { listNames } from '../../cli/find.ts';
import { UsageError } from '../../cli/options.ts';
import { makeTable, show } from '../../cli/show.ts';
import { backupName, findBackups, type StoredBackup, timeOfBackup } from '../../storage/backup/make-scheduled.ts';
import { openPlace } from './backup-source.ts';
import { mebibytes } from './progress.ts';
import { readConfig } from './server-options.ts';

/**
 * Lists the backups in a directory or a bucket, the latest first.
 * @throws {UsageError} for wrong options, and without a place
 * @throws {Error} if the place cannot be read
 */
export async function backupList(given: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(given, terminal);
  const place = given.operand || config.backupTo;
  if (place === undefined)
    throw new UsageError(
      'Cannot use backup list without PLACE: give a directory or s3://BUCKET/PREFIX, or the --config of a server with backup-to',
    );
  const destination = await openPlace(place, { by: 'PLACE', action: 'read' }, config, new AbortController().signal);
  const files = await destination.files();
  const backups = findBackups(files).toReversed().map(summarize);
  if (given.has('json')) terminal.out(`${JSON.stringify(backups)}\n`);
  else if (backups.length > 0) terminal.out(formatTable(backups, terminal));
  else terminal.err(`No backups in ${place} with a name such as ${backupName(0)}\n`);
  const skipped = files.flatMap(({ name }) => (timeOfBackup(name) === undefined ? [{ name }] : []));
  const names = listNames(skipped, 'name');
  if (names !== '') terminal.err(`Skipped ${names}: the names of backups are like ${backupName(0)}\n`);
  return 0;
}

function summarize({ at, bytes, name }: StoredBackup) {
  return { at: new Date(at).toISOString(), bytes, name };
}

const headings = [{ title: 'TIME' }, { title: 'SIZE', right: true }, { title: 'NAME' }] as const;

function formatTable(backups: readonly ReturnType<typeof summarize>[], terminal: Terminal): string {
  const rows = backups.map(({ at, bytes, name }) => [show(at), mebibytes(bytes), name]);
  return makeTable(headings, rows, createContext(terminal)).text;
}

import { join } from 'node:path';
import type { BackupKey } from '../../../src/storage/backup/backup-key.ts';
import { checkDirectory } from '../../../src/storage/backup/check-directory.ts';
import { Pace } from '../../../src/storage/backup/pace.ts';
import { writeBackup } from '../../../src/storage/backup/write-backup.ts';
import { writeFileWhole } from '../../../src/storage/backup/write-file.ts';
import { accountTables, openAccountTables } from '../../../src/storage/lmdb/accounts.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { unpack } from '../../fixtures/stores/unpack.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A pace that is never interrupted. */
export const steady = new Pace({ clock: { monotonic: () => performance.now() }, over: new AbortController().signal });

/** A pace that rests whenever possible and then calls `rested`. The work is interrupted if `rested` returns true. */
export function restless(rested: () => boolean): Pace {
  let now = 0;
  const monotonic = () => {
    now += 100;
    return now;
  };
  const over = {
    get aborted() {
      return rested();
    },
  } as AbortSignal;
  return new Pace({ clock: { monotonic }, over });
}

/** A pace that is interrupted at a rest. */
export function interruptedAt(rest: number): Pace {
  let rests = 0;
  return restless(() => {
    rests += 1;
    return rests === rest;
  });
}

/** Creates a data directory with records in every table of usage. */
export function filledDirectory(): string {
  const data = join(temporaryDirectory(), 'data');
  unpack('layout-2', data);
  return data;
}

export async function backUp(data: string, file: string, pace = steady, key?: BackupKey): Promise<void> {
  await writeFileWhole(file, (sink) => writeBackup(data, new Date(0), sink, pace, key));
}

/** The findings of `flagmeter verify` about a directory. */
export async function findingsIn(data: string) {
  const findings: string[] = [];
  const isSound = await checkDirectory(data, steady, ({ file, words }) => void findings.push(`${file}: ${words}`));
  return { isSound, findings };
}

/** Every record of both stores, as text. */
export async function everythingIn(data: string): Promise<string[]> {
  const accounts = openAccountTables(data);
  const usage = openUsageTables(data);
  const records = accountTables.flatMap((table) =>
    Array.from(
      accounts[table].getRange() as Iterable<{ key: string; value: unknown }>,
      ({ key, value }) => `${table} ${key} ${JSON.stringify(value)}`,
    ),
  );
  const { lmdb, ...tables } = usage;
  const cells = Object.entries(tables).flatMap(([table, rows]) =>
    Array.from(rows.getRange(), ({ key, value }) => `${table} ${key.toString('hex')} ${value.toString('hex')}`),
  );
  await Promise.all([accounts.lmdb.close(), lmdb.close()]);
  return [...records, ...cells];
}

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Destination, folderDestination } from '../../../src/storage/backup/destination.ts';
import { backupName, listBackups, makeScheduled, timeOfBackup } from '../../../src/storage/backup/make-scheduled.ts';
import { readBackup } from '../../../src/storage/backup/read-backup.ts';
import { type BackupThread, Schedule } from '../../../src/storage/backup/schedule.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { filledDirectory, steady } from './data-directory.ts';

const hour = 3_600_000;
const begin = Date.parse('2026-01-02T03:04:05Z');

/** Runs a schedule that makes real backups. Only the waits of the schedule advance its clock. */
async function keepFor(
  hours: number,
  options: { folder?: string; data?: string; keep?: number; from?: number; remove?: Destination['remove'] } = {},
) {
  const data = options.data ?? filledDirectory();
  const folder = options.folder ?? join(dirname(data), 'backups');
  mkdirSync(folder, { recursive: true });
  const { remove } = options;
  const destination = { ...folderDestination(folder), ...(remove && { remove }) };
  let now = options.from ?? begin;
  const end = now + hours * hour;
  const log: string[] = [];
  const note = (words: string, fields?: object) => void log.push(`${words} ${JSON.stringify(fields)}`);
  const run = async (name: string, at = 0) =>
    name === 'latest'
      ? (await listBackups(destination)).at(-1)?.at
      : makeScheduled(destination, { data, keep: options.keep ?? 7, keyFile: undefined, at }, steady);
  const schedule = new Schedule({
    clock: { now: () => now, monotonic: () => now },
    log: { info: note, warn: note, error: note },
    everyMs: 24 * hour,
    thread: { run: run as BackupThread['run'], stop: async () => {} },
  });
  await schedule.keep(async (ms) => {
    now += ms;
    return now < end;
  });
  return { data, folder, log, status: schedule.status, names: readdirSync(folder).sort(), now };
}

test('the schedule makes a backup each day, and removes the oldest backups', async () => {
  const { names, folder, status, log } = await keepFor(24 * 5 + 1, { keep: 3 });
  const days = [3, 4, 5].map((day) => backupName(begin + day * 24 * hour));
  expect(names).toEqual(days);
  for (const name of names) await readBackup(join(folder, name), {}, steady);
  expect(status).toMatchObject({ made: 6, failed: 0, trouble: '', lastGoodAt: begin + 5 * 24 * hour });
  expect(log.at(-1)).toMatch(/^backup completed .*"removed":1/);
});

test('the next backup after a restart is due one interval after the latest backup', async () => {
  const first = await keepFor(5);
  expect(first.names).toEqual([backupName(begin)]);
  const second = await keepFor(20, { ...first, from: begin + 6 * hour });
  expect(second.names).toEqual([backupName(begin), backupName(begin + 24 * hour)]);
});

test('the schedule removes only old backups and unfinished backups from the destination', async () => {
  const first = await keepFor(1);
  for (const name of ['notes.txt', 'flagmeter-old.backup', `${backupName(begin)}.99.tmp`])
    writeFileSync(join(first.folder, name), '');
  const { names } = await keepFor(24 * 3, { ...first, from: begin + hour, keep: 1 });
  expect(names).toEqual([backupName(begin + 72 * hour), 'flagmeter-old.backup', 'notes.txt']);
});

test('a new backup succeeds even if an older backup cannot be removed', async () => {
  const remove = () => Promise.reject(new Error('Access Denied'));
  const { names, status, log } = await keepFor(24 * 2 + 1, { keep: 1, remove });
  expect(names).toHaveLength(3);
  expect(status).toMatchObject({ made: 3, failed: 0, trouble: '', lastGoodAt: begin + 2 * 24 * hour });
  expect(log.at(-1)).toBe('cannot remove an old backup {"reason":"Access Denied"}');
});

test('a directory that has the name of a backup is not removed', async () => {
  const first = await keepFor(1);
  const old = backupName(begin - hour);
  mkdirSync(join(first.folder, old));
  mkdirSync(join(first.folder, `${old}.99.tmp`));
  const { names, status } = await keepFor(24 * 2 + 1, { ...first, from: begin + hour, keep: 1 });
  expect(status).toMatchObject({ made: 2, failed: 0 });
  expect(names).toEqual([old, `${old}.99.tmp`, backupName(begin + 48 * hour)]);
});

test('a missing destination directory is not created, because its volume might be unmounted', async () => {
  const folder = join(temporaryDirectory(), 'mount/backups');
  await expect(folderDestination(folder).files()).rejects.toThrow(
    `Cannot write backups to ${folder}: no such directory; create it, or mount its volume`,
  );
  expect(existsSync(dirname(folder))).toBe(false);
});

test('a failed backup is logged as a warning if there is a recent backup, and as an error otherwise', async () => {
  const levels: string[] = [];
  const note = (level: string) => () => void levels.push(level);
  const failAfter = async (latest: number | undefined, hours: number) => {
    const now = begin + hours * hour;
    const schedule = new Schedule({
      clock: { now: () => now, monotonic: () => now },
      log: { info: note('info'), warn: note('warn'), error: note('error') },
      everyMs: 24 * hour,
      thread: {
        stop: async () => {},
        run: (async (name: string) => {
          if (name === 'latest') return latest;
          throw new Error('no such bucket');
        }) as never,
      },
    });
    let left = 4;
    await schedule.keep(async (ms) => ms > 0 || --left > 0);
    return levels.splice(0);
  };
  expect(await failAfter(undefined, 0)).toEqual(['error']);
  expect(await failAfter(begin, 47)).toEqual(['warn']);
  expect(await failAfter(begin, 49)).toEqual(['error']);
});

test('a failed backup is retried within the hour, and the reason is shown until a backup succeeds', async () => {
  let now = begin;
  const attempts: number[] = [];
  const errors: unknown[] = [];
  let broken = true;
  const schedule = new Schedule({
    clock: { now: () => now, monotonic: () => now },
    log: { info: () => {}, warn: () => {}, error: (words, fields) => void errors.push([words, fields]) },
    everyMs: 24 * hour,
    thread: {
      stop: async () => {},
      run: (async (name: string) => {
        attempts.push((now - begin) / 60_000);
        if (broken) throw new Error('no such bucket');
        return name === 'latest' ? undefined : { name: 'x', bytes: 5, removed: 0, unremoved: '' };
      }) as never,
    },
  });
  const states: string[] = [];
  await schedule.keep(async (ms) => {
    now += ms;
    states.push(schedule.status.trouble);
    if (now > begin + 3 * hour) broken = false;
    return now < begin + 5 * hour;
  });
  expect(attempts.slice(0, 7)).toEqual([0, 1, 3, 7, 15, 31, 63]);
  expect(errors[0]).toEqual([
    'backup failed',
    { reason: 'no such bucket', lastGood: null, nextAt: '2026-01-02T03:05:05.000Z' },
  ]);
  expect(states).toContain('no such bucket');
  expect(schedule.status).toMatchObject({ made: 1, failed: 8, trouble: '', lastBytes: 5 });
});

test('the names of backups sort in the order of their times', () => {
  expect(backupName(begin)).toBe('flagmeter-2026-01-02T03-04-05Z.backup');
  expect(timeOfBackup(backupName(begin))).toBe(begin);
  for (const name of ['flagmeter-2026-13-41T03-04-05Z.backup', 'x.backup', `${backupName(begin)}.tmp`])
    expect(timeOfBackup(name)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { DiskWatch, isLow } from '../../src/serve/disk-watch.ts';
import { testClock } from '../accounts/fixture.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const GiB = 2 ** 30;

test.each([
  { free: 20 * GiB, size: 100 * GiB, low: false },
  { free: 9 * GiB, size: 100 * GiB, low: true },
  { free: 900 * GiB, size: 10_000 * GiB, low: true },
  { free: GiB - 1, size: 4 * GiB, low: true },
  { free: GiB, size: 4 * GiB, low: false },
])('a disk with $free of $size bytes free is almost full: $low', ({ free, size, low }) => {
  expect(isLow({ free, size })).toBe(low);
});

function open(disks: Record<'data' | 'backups', { device: number; free: number }>) {
  const data = temporaryDirectory();
  const clock = testClock();
  const lines: string[] = [];
  const write =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push(`${level} ${message} ${fields['directory']}`);
  const watch = new DiskWatch({
    config: { data, backupEvery: '24h', backupTo: '/backups' },
    log: { info: write('info'), warn: write('warn') },
    clock,
    measure: async (path) => ({ size: 100 * GiB, ...disks[path === data ? 'data' : 'backups'] }),
  });
  return { watch, clock, lines };
}

test('DiskWatch warns once an hour while a disk is almost full, and logs when the disk has space again', async () => {
  const disks = { data: { device: 1, free: 50 * GiB }, backups: { device: 2, free: 5 * GiB } };
  const { watch, clock, lines } = open(disks);
  await watch.look();
  await watch.look();
  expect(lines).toEqual(['warn a disk is almost full backups']);
  clock.advance(3_600_000);
  await watch.look();
  disks.backups.free = 50 * GiB;
  disks.data.free = 1;
  await watch.look();
  expect(lines.slice(1)).toEqual([
    'warn a disk is almost full backups',
    'warn a disk is almost full data',
    'info a disk has enough space again backups',
  ]);
});

test('DiskWatch reports two directories on one file system as one disk', async () => {
  const { watch } = open({ data: { device: 1, free: 0 }, backups: { device: 1, free: 0 } });
  await watch.look();
  expect(watch.now().map(({ directory }) => directory)).toEqual(['data']);
});

test('the warning about a disk that is almost full does not contain the path of a directory', async () => {
  const { watch } = open({ data: { device: 1, free: 0 }, backups: { device: 2, free: 0 } });
  await watch.look();
  expect(watch.warnings).toContain('the disk of the backup directory has less than 10 % or 1 GiB left');
});

test('DiskWatch reports no disk for a missing data directory', () => {
  const config = { data: '/none' };
  const watch = new DiskWatch({ config, log: { info() {}, warn() {} }, clock: testClock() });
  expect(watch.now()).toEqual([]);
});

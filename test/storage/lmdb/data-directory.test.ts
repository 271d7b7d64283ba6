import { randomBytes } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { prepareStore } from '../../../src/accounts/prepare.ts';
import { openAccountTables } from '../../../src/storage/lmdb/accounts.ts';
import { checkDataFiles, createAtomically } from '../../../src/storage/lmdb/data-directory.ts';
import { type LmdbEnvironment, openLmdb, openTable, type Table } from '../../../src/storage/lmdb/lmdb.ts';
import { lockDataDirectory } from '../../../src/storage/lmdb/lock.ts';
import { openSpoolStore, openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { testClock } from '../../accounts/fixture.ts';
import { freshDirectory } from '../../support/binary.ts';
import { cheapHash } from '../../support/cheap-hash.ts';
import { seededRandom } from '../../support/random.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

let used: string;

beforeAll(async () => {
  used = await makeUsed();
});

/** Returns a copy of a directory whose stores have been used. */
function copyUsed(): string {
  const data = temporaryDirectory();
  cpSync(used, data, { recursive: true });
  return data;
}

async function makeUsed(): Promise<string> {
  const data = freshDirectory();
  const accounts = openAccountTables(data);
  const wanted = { adminEmail: 'admin@example.com', clock: testClock(), randomBytes, hash: cheapHash };
  await prepareStore(accounts, wanted);
  await accounts.lmdb.close();
  const usage = openUsageTables(data);
  await usage.counts.put(Buffer.from('key'), Buffer.alloc(100));
  await usage.lmdb.close();
  await openSpoolStore(data).lmdb.close();
  return data;
}

function overwrite(file: string, position: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

test('a new, a prepared and a used directory pass the check', async () => {
  const data = copyUsed();
  checkDataFiles(data);
  const lmdb = openLmdb(`${data}/accounts`);
  for (let table = 0; table < 10; table += 1) openTable(lmdb, `empty-${table}`);
  await lmdb.close();
  checkDataFiles(data);
  rmSync(`${data}/usage`, { recursive: true });
  checkDataFiles(data);
  checkDataFiles(temporaryDirectory());
});

const pageSize = 4096;

test.each([
  ['is empty', (file: string) => truncateSync(file), 'it is empty'],
  ['has less than a page', (file: string) => truncateSync(file, 100), 'it is damaged'],
  ['has one page', (file: string) => truncateSync(file, pageSize), 'it is damaged'],
  ['has two pages', (file: string) => truncateSync(file, 2 * pageSize), 'it is truncated after 8192 bytes'],
  ['ends within a page', (file: string) => truncateSync(file, 2 * pageSize + 10), 'it is truncated after 8202 bytes'],
  ['is another file', (file: string) => writeFileSync(file, randomBytes(statSync(file).size)), 'it is damaged'],
  ['has a first page of zeros', (file: string) => overwrite(file, 0, Buffer.alloc(pageSize)), 'it is damaged'],
  ['has a second page of zeros', (file: string) => overwrite(file, pageSize, Buffer.alloc(pageSize)), 'it is damaged'],
] as const)('a file that %s is rejected, and the directory is unchanged', (_what, damage, fault) => {
  for (const name of ['accounts', 'usage', 'spool']) {
    const data = copyUsed();
    const file = `${data}/${name}/data.mdb`;
    damage(file);
    const before = readFileSync(file);
    expect(() => openAccountTables(data)).toThrow(`Cannot open ${file}: ${fault}`);
    expect(() => openAccountTables(data)).toThrow('restore the data directory from a backup');
    expect(readFileSync(file)).toEqual(before);
  }
});

test('an accounts store with a page of zeros is rejected', () => {
  const data = copyUsed();
  const file = `${data}/accounts/data.mdb`;
  overwrite(file, 2 * pageSize, Buffer.alloc(statSync(file).size - 2 * pageSize));
  expect(() => openAccountTables(data)).toThrow(`Cannot open ${file}: it is damaged`);
});

test('a missing accounts store is not recreated if a usage store exists', () => {
  const data = copyUsed();
  rmSync(`${data}/accounts`, { recursive: true });
  expect(() => openAccountTables(data)).toThrow(`Cannot open ${data}/accounts/data.mdb: it is missing`);
});

/**
 * Puts and deletes records of all sizes; some records need several pages. @returns the number of times that the file
 * ended before its last page
 */
function workOn(data: string, lmdb: LmdbEnvironment, tables: readonly Table[]): number {
  const random = seededRandom(1);
  const below = (end: number) => Math.floor(random() * end);
  let early = 0;
  for (let round = 0; round < 200; round += 1) {
    const growing = below(4) > 0;
    const longest = below(4) > 0 ? 800 : 6000;
    lmdb.transactionSync(() => {
      for (let left = below(300); left > 0; left -= 1) {
        tables[below(2)]!.putSync(Buffer.from(String(below(5000))), Buffer.alloc(below(longest), 'value'));
      }
      const table = tables[below(2)]!;
      if (!growing) for (const key of [...table.getKeys({ limit: 500 })]) table.removeSync(Buffer.from(key));
    });
    checkDataFiles(data);
    if (countPages(data) <= readLastPage(data)) early += 1;
  }
  return early;
}

const countPages = (data: string) => statSync(getFile(data)).size / pageSize;
const getFile = (data: string) => `${data}/accounts/data.mdb`;

function readLastPage(data: string): number {
  const file = Buffer.alloc(2 * pageSize);
  const descriptor = openSync(getFile(data), 'r');
  readSync(descriptor, file, 0, file.length, 0);
  closeSync(descriptor);
  const newer = file.readBigUInt64LE(144) > file.readBigUInt64LE(pageSize + 144) ? 0 : pageSize;
  return Number(file.readBigUInt64LE(newer + 136));
}

const listRecords = (tables: readonly Table[]) =>
  tables.map((table) => Array.from(table.getRange(), ({ key, value }) => `${key} ${value.toString('latin1')}`));

test('a file can end before an unused last page, but not before a page in use', async () => {
  const data = temporaryDirectory();
  const open = () => {
    const lmdb = openLmdb(`${data}/accounts`);
    return { lmdb, tables: ['a', 'b'].map((name) => openTable(lmdb, name)) };
  };
  const first = open();
  expect(workOn(data, first.lmdb, first.tables)).toBeGreaterThan(0);
  const records = listRecords(first.tables);
  await first.lmdb.close();

  // The file is complete and has the minimum length.
  const file = readFileSync(getFile(data));
  const cut = (pages: number) => writeFileSync(getFile(data), file.subarray(0, pages * pageSize));
  let pages = file.length / pageSize;
  for (; isInOrder(data); truncateSync(getFile(data), pages * pageSize)) pages -= 1;
  cut(pages / 2);
  expect(isInOrder(data)).toBe(false);
  cut(pages + 1);
  const again = open();
  expect(listRecords(again.tables)).toEqual(records);
  await again.lmdb.close();
});

function isInOrder(data: string): boolean {
  try {
    checkDataFiles(data);
    return true;
  } catch {
    return false;
  }
}

test('createAtomically moves no directory to its place before all directories are complete', async () => {
  const data = temporaryDirectory();
  await createAtomically(data, async (aside) => {
    for (const name of ['first', 'second']) {
      mkdirSync(`${aside}/${name}`);
      writeFileSync(`${aside}/${name}/file`, 'whole');
    }
    expect(readdirSync(data).some((name) => name === 'first' || name === 'second')).toBe(false);
  });
  expect(readdirSync(data).sort()).toEqual(['first', 'second']);
});

test('a failed creation of directories leaves no files behind, and files left by a power loss do no harm', async () => {
  const data = temporaryDirectory();
  let half = '';
  const failing = createAtomically(data, async (aside) => {
    mkdirSync(`${aside}/store`);
    half = aside;
    throw new Error('no room');
  });
  await expect(failing).rejects.toThrow('no room');
  expect(readdirSync(data)).toEqual([]);
  mkdirSync(`${half}/store`, { recursive: true });
  writeFileSync(`${half}/store/data.mdb`, '');
  await createAtomically(data, async (aside) => {
    expect(existsSync(`${aside}/store`)).toBe(false);
    mkdirSync(`${aside}/store`);
  });
  expect(readdirSync(data)).toEqual(['store']);
});

test.each([
  ['a system error', () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })],
  ["LMDB's error", () => Object.assign(new Error('No space left on device'), { code: constants.errno.ENOSPC })],
  [
    'the cause of an error',
    () => new Error('Cannot make lock.mdb', { cause: Object.assign(new Error('quota'), { code: 'EDQUOT' }) }),
  ],
])('a full disk that is reported by %s leads to an error with the remedy', async (_, error) => {
  const data = temporaryDirectory();
  const failing = createAtomically(data, async () => {
    throw error();
  });
  await expect(failing).rejects.toThrow(
    `Cannot write to ${data}: no space left on device; free some space, or choose a directory on another disk with --data. Nothing was changed`,
  );
  expect(readdirSync(data)).toEqual([]);
});

test('locking a data directory first moves complete directories of an interrupted run to their place', () => {
  const data = temporaryDirectory();
  for (const store of ['accounts', 'usage']) {
    mkdirSync(`${data}/prepared.tmp/${store}`, { recursive: true });
    writeFileSync(`${data}/prepared.tmp/${store}/data.mdb`, store);
  }
  lockDataDirectory(data).release();
  expect(readdirSync(data).sort()).toEqual(['accounts', 'usage']);
  expect(readFileSync(`${data}/usage/data.mdb`, 'utf8')).toBe('usage');
});

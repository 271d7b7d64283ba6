import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { createAtomically } from '../../../src/storage/lmdb/data-directory.ts';
import { lockDataDirectory } from '../../../src/storage/lmdb/lock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

test('no directory appears before all are created', async () => {
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

test('a failure leaves nothing behind, and remains of a power loss are harmless', async () => {
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
  [
    'a system error',
    () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
  ],
  [
    "LMDB's error",
    () => Object.assign(new Error('No space left on device'), { code: constants.errno.ENOSPC }),
  ],
  [
    'its cause',
    () => new Error('Cannot make lock.mdb', { cause: Object.assign(new Error('quota'), { code: 'EDQUOT' }) }),
  ],
])('a full disk is reported with the remedy, if %s says so', async (_, error) => {
  const data = temporaryDirectory();
  const failing = createAtomically(data, async () => {
    throw error();
  });
  await expect(failing).rejects.toThrow(
    `Cannot write to ${data}: no space left on device; free some space, or choose a directory on another disk with --data. Nothing was changed`,
  );
  expect(readdirSync(data)).toEqual([]);
});

test('directories completed by an earlier run are moved once the data directory is locked', () => {
  const data = temporaryDirectory();
  for (const store of ['accounts', 'usage']) {
    mkdirSync(`${data}/prepared.tmp/${store}`, { recursive: true });
    writeFileSync(`${data}/prepared.tmp/${store}/data.mdb`, store);
  }
  lockDataDirectory(data).release();
  expect(readdirSync(data).sort()).toEqual(['accounts', 'usage']);
  expect(readFileSync(`${data}/usage/data.mdb`, 'utf8')).toBe('usage');
});

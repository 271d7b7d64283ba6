import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkDirectory } from '../../../src/storage/backup/check-directory.ts';
import { type CompactionResult, compact } from '../../../src/storage/backup/compact.ts';
import { InterruptedError } from '../../../src/storage/backup/pace.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { everythingIn, filledDirectory, interruptedAt, steady } from './data-directory.ts';

/** A directory from which most usage was removed. */
async function emptiedDirectory(): Promise<string> {
  const data = filledDirectory();
  const usage = openUsageTables(data);
  const keys = Array.from({ length: 2000 }, (_, at) => Buffer.from(`messages of ${at}`.padEnd(22).slice(0, 22)));
  const { lmdb, ledger } = usage;
  lmdb.transactionSync(() => keys.forEach((key) => void ledger.putSync(key, Buffer.alloc(1000))));
  lmdb.transactionSync(() => keys.forEach((key) => void ledger.removeSync(key)));
  await lmdb.close();
  return data;
}

test('compacting a directory keeps all data and makes the files smaller', async () => {
  const data = await emptiedDirectory();
  const before = await everythingIn(data);
  const file = join(data, 'usage/data.mdb');
  const size = statSync(file).size;
  const compacted: CompactionResult[] = [];
  await compact(data, steady, (each) => compacted.push(each));
  expect(compacted.map((each) => each.file)).toEqual([join(data, 'accounts/data.mdb'), file]);
  expect(compacted[1]).toEqual({ file, before: size, after: statSync(file).size });
  expect(statSync(file).size).toBeLessThan(size / 5);
  expect(await everythingIn(data)).toEqual(before);
  expect(await checkDirectory(data, steady, () => {})).toBe(true);
});

test('an interrupted compaction does not change the directory', async () => {
  const data = await emptiedDirectory();
  const before = await everythingIn(data);
  const sizes = () => ['accounts', 'usage'].map((store) => statSync(join(data, store, 'data.mdb')).size);
  const then = sizes();
  await expect(compact(data, interruptedAt(1), () => {})).rejects.toThrow(InterruptedError);
  expect(sizes()).toEqual(then);
  expect(readdirSync(join(data, 'accounts')).sort()).toEqual(['data.mdb', 'lock.mdb']);
  expect(await everythingIn(data)).toEqual(before);
});

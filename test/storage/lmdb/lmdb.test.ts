import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { maxStoreBytes, openLmdb } from '../../../src/storage/lmdb/lmdb.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

it('openLmdb allocates the whole lock file, because the file is mapped into memory', async () => {
  const path = temporaryDirectory();
  const lmdb = openLmdb(path);
  const { size, blocks } = statSync(join(path, 'lock.mdb'));
  expect(blocks * 512).toBeGreaterThanOrEqual(size);
  expect(readdirSync(path).sort()).toEqual(['data.mdb', 'lock.mdb']);
  await lmdb.close();
});

it('openLmdb allows a store far larger than 1 GiB without allocating it on disk', async () => {
  const path = temporaryDirectory();
  const lmdb = openLmdb(path);
  expect(lmdb.getStats()).toMatchObject({ mapSize: maxStoreBytes });
  expect(maxStoreBytes).toBeGreaterThan(2 ** 36);
  expect(statSync(join(path, 'data.mdb')).size).toBeLessThan(2 ** 20);
  await lmdb.close();
});

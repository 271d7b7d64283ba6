import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLmdb } from '../../src/store/lmdb.ts';
import { temporaryDirectory } from '../support/temporary.ts';

it('openLmdb leaves no hole in the lock file, which is mapped into memory', async () => {
  const path = temporaryDirectory();
  const lmdb = openLmdb(path);
  const { size, blocks } = statSync(join(path, 'lock.mdb'));
  expect(blocks * 512).toBeGreaterThanOrEqual(size);
  expect(readdirSync(path).sort()).toEqual(['data.mdb', 'lock.mdb']);
  await lmdb.close();
});

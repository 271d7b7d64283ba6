import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { prepareStore } from '../../../src/accounts/prepare.ts';
import { openAccountTables } from '../../../src/storage/lmdb/accounts.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { testClock } from '../../accounts/fixture.ts';
import { cheapHash } from '../../support/cheap-hash.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** Opens both stores, and returns all files below the directory with their permissions. */
async function openBoth(data: string): Promise<Record<string, string>> {
  const accounts = openAccountTables(data);
  const wanted = { adminEmail: 'admin@example.com', clock: testClock(), randomBytes, hash: cheapHash };
  await prepareStore(accounts, wanted).catch(() => {});
  const usage = openUsageTables(data);
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' });
  const modes = names.map((name) => [name, (statSync(join(data, name)).mode & 0o777).toString(8)]);
  await Promise.all([accounts.lmdb.close(), usage.lmdb.close()]);
  return Object.fromEntries(modes);
}

const ownersOnly = {
  accounts: '700',
  'accounts/data.mdb': '600',
  'accounts/lock.mdb': '600',
  usage: '700',
  'usage/data.mdb': '600',
  'usage/lock.mdb': '600',
};

test('files with secrets are readable by their owner only, for any umask', async () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  expect(await openBoth(temporaryDirectory())).toEqual(ownersOnly);
});

test('opening a store makes its files private if other users could read them', async () => {
  const data = temporaryDirectory();
  await openBoth(data);
  for (const name of Object.keys(ownersOnly)) chmodSync(join(data, name), name.includes('.') ? 0o644 : 0o755);
  expect(await openBoth(data)).toEqual(ownersOnly);
});

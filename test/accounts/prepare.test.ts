import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyClient } from '../../src/accounts/api-keys.ts';
import { openDirectory } from '../../src/accounts/directory.ts';
import { hasTemporaryPassword, verifyPassword } from '../../src/accounts/passwords.ts';
import { AlreadyPreparedError, isPrepared, prepareStore } from '../../src/accounts/prepare.ts';
import { EmbeddedAccountStore } from '../../src/accounts/store/embedded.ts';
import type { AccountTables } from '../../src/storage/lmdb/accounts.ts';
import { openTestStore, testClock, testHealth } from './fixture.ts';

const wanted = { adminEmail: 'admin@example.com', clock: testClock(), randomBytes };

function everything(store: AccountTables): unknown {
  const { lmdb: _, fullyChecked: __, ...tables } = store;
  return Object.entries(tables).map(([name, table]) => [name, [...table.getRange()]]);
}

test('prepareStore creates valid credentials', async () => {
  const store = openTestStore();
  expect(isPrepared(store)).toBe(false);
  const made = await prepareStore(store, wanted);
  expect(isPrepared(store)).toBe(true);
  expect(Object.keys(made).sort()).toEqual(['adminEmail', 'adminPassword', 'clientId', 'clientSecret', 'teamId']);

  const directory = openDirectory(new EmbeddedAccountStore(store, testHealth()), wanted);
  const [user] = directory.users.values();
  expect(user).toMatchObject({ email: 'admin@example.com', role: 'Admin', teams: [made.teamId] });
  expect(user?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword(made.adminPassword, user?.passwordHash ?? '')).toBe(true);
  expect(verifyClient(directory, made.clientId, made.clientSecret, wanted.clock.now())).toMatchObject({
    teamId: made.teamId,
    role: 'Admin',
  });
  expect([...store.signingKeys.getRange()].map(({ value }) => value.alg)).toEqual(['ES256']);
});

test('prepareStore does not store secrets in clear text', async () => {
  const store = openTestStore();
  const { adminPassword, clientSecret } = await prepareStore(store, wanted);
  const text = JSON.stringify(everything(store));
  expect(text).not.toContain(adminPassword);
  expect(text).not.toContain(clientSecret);
});

test('prepareStore makes a generated password temporary, but not a given password', async () => {
  const isTemporary = async (given: object) => {
    const store = openTestStore();
    const { adminPassword } = await prepareStore(store, { ...wanted, ...given });
    const [admin] = [...store.users.getRange()].map(({ value }) => value);
    return [adminPassword, hasTemporaryPassword(admin!)];
  };
  expect(await isTemporary({ adminPassword: 'my own password' })).toEqual(['my own password', false]);
  expect(await isTemporary({})).toEqual([expect.any(String), true]);
});

test('prepareStore rejects a prepared store, and leaves the store unchanged', async () => {
  const store = openTestStore();
  await prepareStore(store, wanted);
  const before = everything(store);
  await expect(prepareStore(store, wanted)).rejects.toThrow(AlreadyPreparedError);
  expect(everything(store)).toEqual(before);
});

test('exactly one of two concurrent calls of prepareStore succeeds', async () => {
  const store = openTestStore();
  const both = await Promise.allSettled([prepareStore(store, wanted), prepareStore(store, wanted)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect([...store.users.getRange()]).toHaveLength(1);
  expect([...store.signingKeys.getRange()]).toHaveLength(1);
});

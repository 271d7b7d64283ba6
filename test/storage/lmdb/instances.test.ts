import { expect, test } from 'vitest';
import {
  digestIdentity,
  digestOfInstance,
  findInstance,
  findProfile,
  hashedId,
  newInstanceId,
  openDigestSecret,
  putHashedMint,
  putHashedUse,
  removeIdentity,
  sweepInstances,
} from '../../../src/storage/lmdb/instances.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = 20_000 * day;
const ttl = 30 * day;
const secret = Buffer.alloc(32, 1);

function transact<T>(store: UsageTables, action: () => T): T {
  return store.lmdb.transactionSync(action);
}

function createId(name: string, n: number, application = 1): string {
  return newInstanceId(digestIdentity(secret, application, name), () => new Uint8Array(20).fill(n));
}

function mint(store: UsageTables, name: string, n: number, at = start, application = 1): void {
  putHashedMint(
    store,
    hashedId({
      application,
      instanceId: createId(name, n, application),
      high: 1,
      low: 2,
      profile: JSON.stringify({ identity: name, n }),
      expiresAt: at + ttl,
      graceUntil: at + hour,
    }),
  );
}

function findEnd(store: UsageTables, name: string, n: number, application = 1): number | undefined {
  return findInstance(store, application, createId(name, n, application))?.expiresAt;
}

const listEnds = (store: UsageTables) => [1, 2, 3].map((n) => findEnd(store, 'ann', n));

const getProfile = (store: UsageTables, name: string, application = 1) =>
  findProfile(store, application, digestIdentity(secret, application, name));

test('the previous instance id stays valid for the grace period, and all earlier ids are invalid', async () => {
  const store = temporaryUsage();
  transact(store, () => mint(store, 'ann', 1));
  transact(store, () => mint(store, 'ann', 2, start + 1));
  expect(listEnds(store)).toEqual([start + 1 + hour, start + 1 + ttl, undefined]);
  transact(store, () => mint(store, 'ann', 3, start + 2));
  expect(listEnds(store)).toEqual([undefined, start + 2 + hour, start + 2 + ttl]);
  expect(getProfile(store, 'ann')).toBe('{"identity":"ann","n":3}');
});

test('replacing an instance id does not extend the lifetime of the replaced id', async () => {
  const store = temporaryUsage();
  transact(store, () => {
    mint(store, 'ann', 1);
    mint(store, 'ann', 2, start + ttl - 1);
  });
  expect(findEnd(store, 'ann', 1)).toBe(start + ttl);
});

test('each id replaces the previous id if several ids are minted for one identity in one transaction', async () => {
  const store = temporaryUsage();
  transact(store, () => {
    for (const n of [1, 2, 3]) mint(store, 'ann', n);
  });
  expect(listEnds(store)).toEqual([undefined, start + hour, start + ttl]);
});

test('equal identities in two applications have independent instance ids', async () => {
  const store = temporaryUsage();
  transact(store, () => {
    mint(store, 'ann', 1);
    mint(store, 'ann', 1, start, 2);
    removeIdentity(store, 2, digestIdentity(secret, 2, 'ann'));
  });
  expect(findInstance(store, 1, createId('ann', 1))).toMatchObject({ replaced: false, high: 1, low: 2 });
  expect(findInstance(store, 2, createId('ann', 1))).toBeUndefined();
  expect(findEnd(store, 'ann', 1, 2)).toBeUndefined();
  expect(getProfile(store, 'ann', 2)).toBeUndefined();
});

test('a use extends the lifetime of an instance id, unless the id was replaced or never minted', async () => {
  const store = temporaryUsage();
  const expiresAt = start + 40 * day;
  transact(store, () => {
    for (const n of [1, 2]) mint(store, 'ann', n);
    for (const n of [1, 2, 3])
      putHashedUse(store, hashedId({ application: 1, instanceId: createId('ann', n), expiresAt }));
    putHashedUse(store, hashedId({ application: 1, instanceId: createId('ann', 2), expiresAt: start }));
    putHashedUse(store, hashedId({ application: 1, instanceId: createId('eve', 1), expiresAt }));
  });
  expect(listEnds(store)).toEqual([start + hour, expiresAt, undefined]);
  expect(findEnd(store, 'eve', 1)).toBeUndefined();
});

test('a sweep removes people whose ids have all expired before today', async () => {
  const store = temporaryUsage();
  transact(store, () => {
    for (const name of ['ann', 'bob', 'eve']) mint(store, name, 1);
    mint(store, 'bob', 2, start + 2 * day);
    putHashedUse(store, hashedId({ application: 1, instanceId: createId('eve', 1), expiresAt: start + 50 * day }));
  });
  const leftAt = (now: number) => {
    while (transact(store, () => sweepInstances(store, now, 1)) > 0);
    return ['ann', 'bob', 'eve'].filter((name) => getProfile(store, name) !== undefined);
  };
  expect(leftAt(start + ttl)).toEqual(['ann', 'bob', 'eve']);
  expect(leftAt(start + ttl + day)).toEqual(['bob', 'eve']);
  expect([findEnd(store, 'bob', 2), findEnd(store, 'eve', 1)]).toEqual([start + 2 * day + ttl, start + 50 * day]);
  expect(leftAt(start + 40 * day)).toEqual(['eve']);
  expect(leftAt(start + 60 * day)).toEqual([]);
  for (const table of [store.identities, store.identityDays]) expect([...table.getKeys()]).toEqual([]);
});

test('removing a person removes all records of the person', async () => {
  const store = temporaryUsage();
  transact(store, () => {
    for (const n of [1, 2]) mint(store, 'ann', n);
    for (let times = 0; times < 2; times++) removeIdentity(store, 1, digestIdentity(secret, 1, 'ann'));
  });
  for (const table of [store.identities, store.identityDays]) expect([...table.getKeys()]).toEqual([]);
});

test('the secret for digests is created once and kept in the store', async () => {
  const data = temporaryDirectory();
  let store = openUsageTables(data);
  const made = openDigestSecret(store, (length) => new Uint8Array(length).fill(7));
  await store.lmdb.close();
  store = openUsageTables(data);
  expect(openDigestSecret(store, () => new Uint8Array(0))).toEqual(made);
  expect(made).toEqual(Buffer.alloc(32, 7));
  await store.lmdb.close();
});

test.each([
  '',
  'fm_in_',
  createId('ann', 1).slice(1),
  `${createId('ann', 1)}0`,
  createId('ann', 1).toUpperCase(),
  'x'.repeat(78),
])('the text %j cannot be an instance id, and is not looked up', async (text) => {
  expect(digestOfInstance(text)).toBeUndefined();
});

test('the stored format of people and their instance ids does not change', async () => {
  const store = temporaryUsage();
  transact(store, () => mint(store, 'ann', 1));
  const [{ key, value } = { key: nothing, value: nothing }] = store.identities.getRange();
  expect([key.length, value.length]).toEqual([20, 92 + 24]);
  expect(value.subarray(32, 40).readDoubleBE()).toBe(start + ttl);
  expect(value.subarray(40, 80)).toEqual(Buffer.alloc(40));
  expect(value.subarray(80, 92).toString('hex')).toBe('0000000100000002' + '00004e3e');
  expect(value.subarray(92).toString()).toBe('{"identity":"ann","n":1}');
});

const nothing = Buffer.alloc(0);

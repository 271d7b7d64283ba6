import { expect, test } from 'vitest';
import {
  findInstance,
  findProfile,
  identityDigest,
  putMint,
  putUse,
  removeIdentity,
  sweepInstances,
} from '../../src/store/instances.ts';
import { openUsageStore, type UsageStore } from '../../src/store/usage.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = 20_000 * day;
const ttl = 30 * day;

function transact<T>(store: UsageStore, action: () => T): T {
  return store.environment.transactionSync(action);
}

function mint(store: UsageStore, instanceId: string, at = start, identity = 'ann', application = 1): void {
  putMint(store, {
    application,
    identity,
    instanceId,
    high: 1,
    low: 2,
    profile: JSON.stringify({ identity, by: instanceId }),
    at,
    expiresAt: at + ttl,
    graceUntil: at + hour,
  });
}

const endOf = (store: UsageStore, instanceId: string) => findInstance(store, instanceId)?.expiresAt;

test('the id before lives on for the grace, and the one before that is gone', async () => {
  const store = openUsageStore(temporaryDirectory());
  transact(store, () => mint(store, 'first'));
  transact(store, () => mint(store, 'second', start + 1));
  expect(['first', 'second'].map((id) => endOf(store, id))).toEqual([start + 1 + hour, start + 1 + ttl]);
  transact(store, () => mint(store, 'third', start + 2));
  expect(['first', 'second', 'third'].map((id) => endOf(store, id))).toEqual([
    undefined,
    start + 2 + hour,
    start + 2 + ttl,
  ]);
  expect(findProfile(store, 1, 'ann')).toBe('{"identity":"ann","by":"third"}');
  await store.environment.close();
});

test('two mints of one identity in one transaction come one after the other', async () => {
  const store = openUsageStore(temporaryDirectory());
  transact(store, () => {
    for (const id of ['first', 'second', 'third']) mint(store, id);
  });
  expect(['first', 'second', 'third'].map((id) => endOf(store, id))).toEqual([
    undefined,
    start + hour,
    start + ttl,
  ]);
  await store.environment.close();
});

test('identities of the same name in two applications have nothing to do with each other', async () => {
  const store = openUsageStore(temporaryDirectory());
  transact(store, () => {
    mint(store, 'one');
    mint(store, 'two', start, 'ann', 2);
    removeIdentity(store, 2, identityDigest('ann'));
  });
  expect(findInstance(store, 'one')).toMatchObject({ application: 1, replaced: false, high: 1, low: 2 });
  expect(findInstance(store, 'two')).toBeUndefined();
  expect(findProfile(store, 2, 'ann')).toBeUndefined();
  await store.environment.close();
});

test('use makes an id live longer, but not one that was replaced, forgotten or swept', async () => {
  const store = openUsageStore(temporaryDirectory());
  const later = start + 40 * day;
  transact(store, () => {
    mint(store, 'first');
    mint(store, 'second');
    for (const instanceId of ['first', 'second', 'unknown']) putUse(store, { instanceId, expiresAt: later });
    putUse(store, { instanceId: 'second', expiresAt: start });
  });
  expect(['first', 'second', 'unknown'].map((id) => endOf(store, id))).toEqual([
    start + hour,
    later,
    undefined,
  ]);
  await store.environment.close();
});

test('a sweep removes what has expired before today, and people who have no id left', async () => {
  const store = openUsageStore(temporaryDirectory());
  transact(store, () => {
    for (const name of ['ann', 'bob', 'eve']) mint(store, `${name}-1`, start, name);
    mint(store, 'bob-2', start + day, 'bob');
    putUse(store, { instanceId: 'eve-1', expiresAt: start + 50 * day });
  });
  const sweep = (now: number) => {
    while (transact(store, () => sweepInstances(store, now, 1)) > 0);
  };
  const left = () =>
    ['ann-1', 'bob-1', 'bob-2', 'eve-1'].filter((id) => findInstance(store, id) !== undefined);
  const known = () => ['ann', 'bob', 'eve'].filter((name) => findProfile(store, 1, name) !== undefined);

  sweep(start + 3 * day);
  expect([left(), known()]).toEqual([
    ['ann-1', 'bob-2', 'eve-1'],
    ['ann', 'bob', 'eve'],
  ]);
  sweep(start + ttl + day);
  expect([left(), known()]).toEqual([
    ['bob-2', 'eve-1'],
    ['bob', 'eve'],
  ]);
  sweep(start + 60 * day);
  expect([left(), known()]).toEqual([[], []]);
  for (const table of [store.instances, store.identities, store.instanceDays])
    expect([...table.getKeys()]).toEqual([]);
  await store.environment.close();
});

test('the ids themselves are not kept, in any table', async () => {
  const store = openUsageStore(temporaryDirectory());
  transact(store, () => putMint(store, { ...mintOf('fm_in_secret'), profile: '{}' }));
  for (const table of [store.instances, store.identities, store.instanceDays]) {
    for (const { key, value } of table.getRange()) {
      expect(Buffer.concat([key, value]).includes('fm_in_secret')).toBe(false);
    }
  }
  await store.environment.close();
});

function mintOf(instanceId: string) {
  const times = { at: start, expiresAt: start + ttl, graceUntil: start + hour };
  return { application: 1, identity: 'ann', instanceId, high: 1, low: 2, ...times };
}

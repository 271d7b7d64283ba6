import { expect, test } from 'vitest';
import { createKey, deleteKey } from '../../src/accounts/application-keys.ts';
import { createEnvironment } from '../../src/accounts/applications.ts';
import type { KeyHolder } from '../../src/accounts/key-index.ts';
import { allKeyWrites, keyWrites, ThreadKeys } from '../../src/accounts/thread-keys.ts';
import { openFixture } from './fixture.ts';

/** Opens the keys of a thread. The thread receives writes of the accounts, and sends copies of its key events. */
async function openThread() {
  const fixture = await openFixture();
  const { accountStore, directory, clock } = fixture;
  const later = { waits: false };
  const send = () => directory.addKeyEvents(structuredClone(keys.take()));
  const sendLater = () => {
    later.waits = true;
  };
  const keys: ThreadKeys = new ThreadKeys(clock, { send, sendLater });
  keys.update(structuredClone(allKeyWrites(accountStore)));
  accountStore.onCommit((writes) => keys.update(structuredClone(keyWrites(writes))));
  const findHolder = (text: string) => keys.findKey(text) as KeyHolder;
  return { ...fixture, keys, later, send, findHolder };
}

test('a thread finds application keys until the keys are revoked', async () => {
  const { directory, application, keys } = await openThread();
  const made = await createKey(directory, application.id, { type: 'Mobile' });
  const secret = await createKey(directory, application.id, { type: 'Backend' });
  for (const { text } of [made, secret])
    expect(keys.findKey(text)).toMatchObject({ ...directory.findKey(text), allowsOrigin: expect.anything() });
  await createEnvironment(directory, application.id, 'Test');
  expect(keys.findKey(made.text)?.environments.has('Test')).toBe(true);
  await deleteKey(directory, application.id, made.key.id);
  expect(keys.findKey(made.text)).toBeUndefined();
});

test('a new thread receives the existing keys, but no other records', async () => {
  const { directory, application, accountStore, clock } = await openThread();
  const { text } = await createKey(directory, application.id, { type: 'Mobile' });
  const writes = allKeyWrites(accountStore);
  const keys = new ThreadKeys(clock, { send: () => {}, sendLater: () => {} });
  keys.update(writes);
  expect(keys.findKey(text)).toBeDefined();
  expect(new Set(writes.map(({ table }) => table))).toEqual(new Set(['applications', 'applicationKeys']));
});

test('the first use of a key within a second is reported immediately, and the last use within the next second', async () => {
  const { directory, application, keys, later, send, clock, findHolder } = await openThread();
  const { text, key } = await createKey(directory, application.id, { type: 'Mobile' });
  const first = clock.now();
  keys.recordUse(findHolder(text));
  expect(directory.lastUsedAt(key)).toBe(first);
  clock.advance(999);
  keys.recordUse(findHolder(text));
  expect(directory.lastUsedAt(key)).toBe(first);
  expect(later.waits).toBe(true);
  send();
  expect(directory.lastUsedAt(key)).toBe(first + 999);
  clock.advance(1);
  keys.recordUse(findHolder(text));
  expect(directory.lastUsedAt(key)).toBe(first + 1000);
});

test('an earlier use in a thread does not replace a later use, in memory or on disk', async () => {
  const { directory, application, clock } = await openThread();
  const { text, key } = await createKey(directory, application.id, { type: 'Mobile' });
  directory.recordUse(directory.findKey(text) as KeyHolder);
  const events = { uses: new Map([[key.hash, clock.now() - 1]]), leaks: [], refusals: new Map() };
  directory.addKeyEvents(events);
  expect(directory.lastUsedAt(key)).toBe(clock.now());
  await directory.flush();
  directory.addKeyEvents(events);
  expect(directory.lastUsedAt(directory.findKey(text)!.key)).toBe(clock.now());
});

test('refusals that threads count are added to the refusals on disk', async () => {
  const { directory, application, keys, findHolder, clock } = await openThread();
  const { text, key } = await createKey(directory, application.id, { type: 'Mobile' });
  directory.recordRefusal(directory.findKey(text) as KeyHolder, 'rate_limited');
  await directory.flush();
  keys.recordRefusal(findHolder(text), 'rate_limited');
  clock.advance(5);
  keys.recordRefusal(findHolder(text), 'origin_not_allowed');
  const refusals = { count: 3, lastAt: clock.now(), reasons: { rate_limited: 2, origin_not_allowed: 1 } };
  const current = () => directory.countRefusals(directory.findKey(text)!.key);
  expect(current()).toEqual(refusals);
  expect(directory.countRefusals(key)?.count).toBe(2); // Refusals since the stored record.
  await directory.flush();
  expect(current()).toEqual(refusals);
});

test('a leaked key that a thread sees in packets is recorded once', async () => {
  const { directory, application, keys, findHolder, clock } = await openThread();
  const { text, key } = await createKey(directory, application.id, { type: 'Backend' });
  const first = clock.now();
  keys.recordLeak(findHolder(text));
  expect(directory.leakedAt(key)).toBe(first);
  clock.advance(1000);
  keys.recordLeak(findHolder(text));
  expect(keys.take().leaks).toEqual([]);
  await directory.flush();
  expect(findHolder(text).key.leakedAt).toBe(first);
});

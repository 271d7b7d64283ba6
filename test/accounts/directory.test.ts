import { expect, test, vi } from 'vitest';
import { createApiKey, deleteApiKey, verifyClient } from '../../src/accounts/api-keys.ts';
import { createKey, deleteKey } from '../../src/accounts/application-keys.ts';
import {
  createApplication,
  createEnvironment,
  deleteApplication,
  deleteEnvironment,
  patchApplication,
} from '../../src/accounts/applications.ts';
import type { KeyHolder } from '../../src/accounts/key-index.ts';
import { createTeam, deleteTeam, patchTeam } from '../../src/accounts/teams.ts';
import { limits } from '../../src/contract/tiers.ts';
import type { AccountTables } from '../../src/storage/lmdb/accounts.ts';
import type { KeyType } from '../../src/storage/lmdb/records.ts';
import { openFixture, reopen } from './fixture.ts';

const types: readonly KeyType[] = ['Frontend', 'Mobile', 'Backend'];

test.each(types)('a %s key is found by its text, even after a restart', async (type) => {
  const fixture = await openFixture();
  const { directory, application } = fixture;
  const { text, key } = await createKey(directory, application.id, { type });
  for (const reader of [directory, reopen(fixture)]) {
    const holder = reader.findKey(text);
    expect(holder?.key.id).toBe(key.id);
    expect(holder?.application.id).toBe(application.id);
    expect([...(holder?.environments.keys() ?? [])]).toEqual(['Production', 'Staging', 'Development']);
  }
  expect(directory.findKey(key.hash)).toBeUndefined();
  expect(directory.findKey(text.toUpperCase())).toBeUndefined();
});

test('a lookup of an unknown text finds no key', async () => {
  const { directory } = await openFixture();
  for (const text of ['', 'fm_fe_', '__proto__', '\ud800', 'x'.repeat(100_000)]) {
    expect(directory.findKey(text)).toBeUndefined();
  }
});

test('the store has the texts of Frontend and Mobile keys, but not the text of a Backend key', async () => {
  const { directory, application, store } = await openFixture();
  const made = await Promise.all(types.map((type) => createKey(directory, application.id, { type })));
  const stored = JSON.stringify([...store.applicationKeys.getRange()]);
  expect(made.map(({ text }) => stored.includes(text))).toEqual([true, true, false]);
});

test.each(types)('a lookup sees the latest changes of a %s key', async (type) => {
  const { directory, application } = await openFixture();
  const { text, key } = await createKey(directory, application.id, { type });
  expect(directory.findKey(text)?.allowsOrigin('https://b.example')).toBe(true);
  await patchApplication(directory, application.id, { allowedOrigins: ['https://a.example'] });
  expect(directory.findKey(text)?.allowsOrigin('https://b.example')).toBe(false);
  await createEnvironment(directory, application.id, 'Test');
  expect(directory.findKey(text)?.environments.has('Test')).toBe(true);
  await deleteEnvironment(directory, application.id, 'Test');
  expect(directory.findKey(text)?.environments.has('Test')).toBe(false);
  await deleteKey(directory, application.id, key.id);
  expect(directory.findKey(text)).toBeUndefined();
});

test('deleting an application deletes its keys and environments permanently', async () => {
  const fixture = await openFixture();
  const { directory, application, store } = fixture;
  const keys = await Promise.all(types.map((type) => createKey(directory, application.id, { type })));
  await deleteApplication(directory, application.id);
  for (const reader of [directory, reopen(fixture)]) {
    expect(reader.applications.has(application.id)).toBe(false);
    expect(keys.map(({ text }) => reader.findKey(text))).toEqual([undefined, undefined, undefined]);
  }
  expect([...store.applicationKeys.getRange()]).toEqual([]);
});

test('numbers of applications and environments are never reused, even after a restart', async () => {
  const fixture = await openFixture();
  const { directory, application, team } = fixture;
  await deleteEnvironment(directory, application.id, 'Staging');
  const again = await createEnvironment(directory, application.id, 'Staging');
  await deleteApplication(directory, application.id);
  const second = await createApplication(reopen(fixture), { name: 'Second', teamId: team.id });
  expect(second.number).toBeGreaterThan(application.number);
  const numbers = [...application.environments, again, ...second.environments].map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
});

/** The error of LMDB if the disk is full or fails during a commit. */
const diskError = Object.assign(new Error('No space left on device'), { code: 28 });
const refused = { code: 'store_unavailable', status: 503, retryAfter: 5 };

function failingOnce(store: AccountTables): void {
  vi.spyOn(store.lmdb, 'batch').mockRejectedValueOnce(diskError);
}

test('a failed commit changes nothing, and the next change succeeds', async () => {
  const { directory, application, store, team, health } = await openFixture();
  const { text, key } = await createKey(directory, application.id, { type: 'Frontend' });
  const before = directory.findKey(text);
  const changes = [
    () => patchApplication(directory, application.id, { name: 'New' }),
    () => deleteKey(directory, application.id, key.id),
    () => createApplication(directory, { name: 'New', teamId: team.id }),
  ];
  for (const change of changes) {
    failingOnce(store);
    await expect(change()).rejects.toMatchObject(refused);
  }
  expect(health.failures).toEqual([diskError, diskError, diskError]);
  expect(directory.findKey(text)).toBe(before);
  expect([...directory.applications.values()]).toEqual([application]);
  const next = await createApplication(directory, { name: 'Next', teamId: team.id });
  expect(next.number).toBe(application.number + 1);
});

test('the directory rejects even a change that writes nothing while the store accepts no writes', async () => {
  const { directory, application, store, health } = await openFixture();
  const commit = vi.spyOn(store.lmdb, 'batch');
  health.ready = false;
  await expect(patchApplication(directory, application.id, { name: 'New' })).rejects.toMatchObject(refused);
  expect(commit).not.toHaveBeenCalled();
  health.ready = true;
  await patchApplication(directory, application.id, { name: 'New' });
  expect(directory.applications.get(application.id)?.name).toBe('New');
});

test('a change is not visible before it is on disk', async () => {
  const { directory, application, store } = await openFixture();
  const seen: unknown[] = [];
  const { batch } = store.lmdb;
  vi.spyOn(store.lmdb, 'batch').mockImplementationOnce(async (action) => {
    const kept = await batch.call(store.lmdb, action);
    seen.push(directory.applications.get(application.id)?.name);
    seen.push(store.applications.get(application.id)?.name);
    return kept;
  });
  await patchApplication(directory, application.id, { name: 'New' });
  expect(seen).toEqual(['Shop', 'New']);
  expect(directory.applications.get(application.id)?.name).toBe('New');
});

test('an invalid change does not count as a failure of the store', async () => {
  const { directory, application, health } = await openFixture();
  const change = directory.change((tx) => tx.put('applications', 'x'.repeat(5000), application));
  await expect(change).rejects.toThrow('Key size');
  expect(health.failures).toEqual([]);
});

test('concurrent changes of accounts run one after another', async () => {
  const { directory, application } = await openFixture();
  const made = await Promise.allSettled([
    createEnvironment(directory, application.id, 'Same'),
    createEnvironment(directory, application.id, 'Same'),
    createEnvironment(directory, application.id, 'Other'),
  ]);
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(directory.applications.get(application.id)?.environments).toHaveLength(5);
});

test('a use of a key is visible immediately, and is on disk after a flush', async () => {
  const fixture = await openFixture();
  const { directory, application, clock, store } = fixture;
  const { text, key } = await createKey(directory, application.id, { type: 'Mobile' });
  expect(directory.lastUsedAt(key)).toBeNull();
  clock.advance(5000);
  directory.recordUse(directory.findKey(text) as KeyHolder);
  expect(directory.lastUsedAt(key)).toBe(clock.now());
  expect(store.applicationKeys.get(key.hash)?.lastUsedAt).toBeNull();
  await directory.flush();
  expect(store.applicationKeys.get(key.hash)?.lastUsedAt).toBe(clock.now());
  expect(directory.findKey(text)?.key.lastUsedAt).toBe(clock.now());
});

test('a flush writes the key uses of an earlier failed flush, but does not restore a deleted key', async () => {
  const { directory, application, store } = await openFixture();
  const kept = await createKey(directory, application.id, { type: 'Mobile' });
  const gone = await createKey(directory, application.id, { type: 'Mobile' });
  for (const { text } of [kept, gone]) directory.recordUse(directory.findKey(text) as KeyHolder);
  failingOnce(store);
  await expect(directory.flush()).rejects.toMatchObject(refused);
  await deleteKey(directory, application.id, gone.key.id);
  await directory.flush();
  expect(store.applicationKeys.get(kept.key.hash)?.lastUsedAt).not.toBeNull();
  expect(store.applicationKeys.get(gone.key.hash)).toBeUndefined();
});

test('a leaked Backend key is recorded once, with the time of its first packet', async () => {
  const fixture = await openFixture();
  const { directory, application, clock } = fixture;
  const { text } = await createKey(directory, application.id, { type: 'Backend' });
  const first = clock.now();
  for (let times = 0; times < 3; times++) {
    directory.recordLeak(directory.findKey(text) as KeyHolder);
    clock.advance(1000);
  }
  await directory.flush();
  directory.recordLeak(directory.findKey(text) as KeyHolder);
  await directory.flush();
  expect(reopen(fixture).findKey(text)?.key.leakedAt).toBe(first);
});

test('the next flush writes the record of a leak that the store rejected', async () => {
  const fixture = await openFixture();
  const { directory, application, store } = fixture;
  const { text } = await createKey(directory, application.id, { type: 'Backend' });
  failingOnce(store);
  directory.recordLeak(directory.findKey(text) as KeyHolder);
  await new Promise((resolve) => setImmediate(resolve)); // The store has rejected the change by then.
  expect(directory.findKey(text)?.key.leakedAt).toBeNull();
  await directory.flush();
  expect(reopen(fixture).findKey(text)?.key.leakedAt).not.toBeNull();
});

test('the next flush writes counts of refused messages once if the store rejected the first write', async () => {
  const fixture = await openFixture();
  const { directory, application, store, clock } = fixture;
  const { text, key } = await createKey(directory, application.id, { type: 'Mobile' });
  const refuse = () => directory.recordRefusal(directory.findKey(text) as KeyHolder, 'rate_limited');
  refuse();
  failingOnce(store);
  const failed = directory.flush();
  clock.advance(1000);
  refuse();
  await expect(failed).rejects.toMatchObject(refused);
  expect(directory.countRefusals(key)?.count).toBe(2);
  await directory.flush();
  await directory.flush();
  expect(reopen(fixture).findKey(text)?.key.refused).toEqual({
    count: 2,
    lastAt: clock.now(),
    reasons: { rate_limited: 2 },
  });
});

test('the refusal for an exceeded limit names the limit', async () => {
  const { directory, application, team } = await openFixture();
  const tooMany = Array.from({ length: limits.environments.enterprise + 1 }, (_, at) => `e${at}`);
  const wanted = { name: 'x', teamId: team.id, environments: tooMany };
  await expect(createApplication(directory, wanted)).rejects.toMatchObject({ code: 'plan_limit' });
  await directory.change((tx) => {
    const environments = tooMany.slice(1).map((name, number) => ({ name, number, createdAt: 0 }));
    tx.put('applications', application.id, { ...application, environments });
  });
  await expect(createEnvironment(directory, application.id, 'more')).rejects.toMatchObject({
    code: 'plan_limit',
    message: 'The plan enterprise allows no more than 50 environments in an application',
  });
  const keys = Array.from({ length: limits.keys.enterprise }, () =>
    createKey(directory, application.id, { type: 'Mobile' }),
  );
  await Promise.all(keys);
  await expect(createKey(directory, application.id, { type: 'Mobile' })).rejects.toMatchObject({ code: 'plan_limit' });
});

test('an API key is valid until it is deleted, and only its own team can delete it', async () => {
  const { directory, team } = await openFixture();
  const { apiKey, clientSecret } = await createApiKey(directory, { teamId: team.id, name: 'CI', role: 'User' });
  const { clientId } = apiKey;
  expect(verifyClient(directory, clientId, clientSecret, directory.clock.now())?.role).toBe('User');
  expect(verifyClient(directory, clientId, `${clientSecret}x`, directory.clock.now())).toBeUndefined();
  expect(verifyClient(directory, 'nobody', clientSecret, directory.clock.now())).toBeUndefined();
  await expect(deleteApiKey(directory, 'team_other', clientId)).rejects.toMatchObject({ code: 'not_found' });
  await deleteApiKey(directory, team.id, clientId);
  expect(verifyClient(directory, clientId, clientSecret, directory.clock.now())).toBeUndefined();
});

test('a team can be renamed, and can be deleted with its API keys when it has no applications', async () => {
  const { directory, application, team } = await openFixture();
  const { apiKey } = await createApiKey(directory, { teamId: team.id, name: 'CI', role: 'User' });
  const other = await createTeam(directory, 'Other');
  expect((await patchTeam(directory, team.id, { name: 'Renamed' })).name).toBe('Renamed');
  await expect(deleteTeam(directory, team.id)).rejects.toMatchObject({ code: 'conflict' });
  await deleteApplication(directory, application.id);
  await deleteTeam(directory, team.id);
  expect([...directory.teams.keys()]).toEqual([other.id]);
  expect(directory.apiKeys.has(apiKey.clientId)).toBe(false);
});

test('a lookup of a known key takes less than 5 µs on average', async () => {
  const { directory, application } = await openFixture();
  const { text } = await createKey(directory, application.id, { type: 'Frontend' });
  const started = process.cpuUsage(); // CPU time of this process, µs.
  for (let call = 0; call < 200_000; call++) directory.recordUse(directory.findKey(text) as KeyHolder);
  expect(process.cpuUsage(started).user / 200_000).toBeLessThan(5);
});

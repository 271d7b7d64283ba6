import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type InstanceDeps, Instances, ThreadInstances } from '../../../src/ingest/formats/identities/instances.ts';
import { hashIdentity } from '../../../src/storage/aggregate/user-hash.ts';
import {
  digestIdentity,
  hashedId,
  newInstanceId,
  putHashedMint,
  putHashedUse,
  removeIdentity,
} from '../../../src/storage/lmdb/instances.ts';
import { transact } from '../../../src/storage/lmdb/lmdb.ts';
import type { Application } from '../../../src/storage/lmdb/records.ts';
import { testClock } from '../../accounts/fixture.ts';
import { opened } from '../../support/opened.ts';
import { attachPeople, openPeople, type People } from '../../support/people.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;

const running = opened(openPeople);

/** Creates an application in the running service. */
const attach = () => attachPeople(running.service, running.clock);

/** True if packets with this id are attributed to `identity`. Tests this with a packet of a new feature. */
async function isValid(people: People, identity: string, i: string): Promise<boolean> {
  const feature = `try-${people.clock.now()}-${i.slice(-6)}`;
  expect(await people.check(feature, { i })).toBe(202);
  return (await people.exposures(identity)).some((exposure) => exposure.feature === feature);
}

describe('instance id', () => {
  test('an instance id is valid in every environment of its application, and in no other application', async () => {
    const people = await attach();
    const i = await people.mint('ann');
    for (const environment of ['Production', 'Staging']) await people.check('checkout', { i }, environment);
    const only = [{ feature: 'checkout', variant: 'on', checks: 1, used: 0, viewed: 0 }];
    expect(await people.exposures('ann')).toMatchObject(only);
    expect(await people.exposures('ann', 'Staging')).toMatchObject(only);
    expect(await people.exposures('ann', 'Development')).toEqual([]);

    const other = await attach();
    expect(await other.check('checkout', { i })).toBe(202);
    expect(await other.exposures('ann')).toEqual([]);
    expect(await people.exposures('ann')).toMatchObject(only);
  });

  test('an instance id expires unless it is used within its lifetime, even across a restart', async () => {
    let people = await openPeople({ args: ['--instance-ttl', String(30 * 24 * 3600)] });
    const used = await people.mint('ann');
    const unused = await people.mint('bob');
    for (let week = 0; week < 5; week++) {
      people.clock.advance(7 * day);
      expect(await isValid(people, 'ann', used)).toBe(true);
      if (week === 2) people = await people.restart();
    }
    expect(await isValid(people, 'bob', unused)).toBe(false);
    people.clock.advance(30 * day - 1);
    expect(await isValid(people, 'ann', used)).toBe(true);
    people = await people.restart();
    people.clock.advance(30 * day);
    expect(await isValid(people, 'ann', used)).toBe(false);
    await people.service.stop();
  });

  test('an instance id expires in time even while it is cached', async () => {
    const people = await openPeople({ args: ['--instance-ttl', '100'] });
    const i = await people.mint('ann');
    expect(await isValid(people, 'ann', i)).toBe(true);
    people.clock.advance(9 * second); // Less than a tenth of the lifetime, so this use of the id is not stored.
    expect(await isValid(people, 'ann', i)).toBe(true);
    people.clock.advance(91 * second - 1);
    expect(await isValid(people, 'ann', i)).toBe(true);
    people.clock.advance(100 * second);
    expect(await isValid(people, 'ann', i)).toBe(false);
    await people.service.stop();
  });

  test('a newer id invalidates an instance id after the grace period, even if the instance id is in use', async () => {
    let people = await openPeople({ args: ['--rotation-grace', '3600'] });
    const first = await people.mint('ann');
    expect(await isValid(people, 'ann', first)).toBe(true);
    const second = await people.mint('ann');
    people.clock.advance(hour - 1);
    expect(await isValid(people, 'ann', first)).toBe(true);
    people = await people.restart();
    expect(await isValid(people, 'ann', first)).toBe(true);
    people.clock.advance(1);
    expect(await isValid(people, 'ann', first)).toBe(false);
    expect(await isValid(people, 'ann', second)).toBe(true);
    await people.service.stop();
  });

  test('an instance id is revoked when two newer ids are minted, even if the old id is in use', async () => {
    const people = await attach();
    const first = await people.mint('ann');
    expect(await isValid(people, 'ann', first)).toBe(true);
    const second = await people.mint('ann');
    people.clock.advance(1);
    expect(await isValid(people, 'ann', first)).toBe(true);
    const third = await people.mint('ann');
    people.clock.advance(1);
    expect(await Promise.all([first, second, third].map((id) => isValid(people, 'ann', id)))).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('an instance id without a grace period is revoked when a newer id is minted', async () => {
    const people = await openPeople({ args: ['--rotation-grace', '0'] });
    const first = await people.mint('ann');
    const second = await people.mint('ann');
    expect([await isValid(people, 'ann', first), await isValid(people, 'ann', second)]).toEqual([false, true]);
    await people.service.stop();
  });

  test('two instance ids are valid after many concurrent mint requests for one identity', async () => {
    const people = await attach();
    const ids = await Promise.all(Array.from({ length: 20 }, () => people.mint('ann')));
    const valid = await Promise.all(ids.map((id) => isValid(people, 'ann', id)));
    expect(new Set(ids).size).toBe(20);
    expect(valid.filter(Boolean)).toHaveLength(2);
  });

  test('an instance id is stored only as a hash and never logged', async () => {
    const people = await openPeople();
    const i = await people.mint('ann-of-the-log');
    await people.check('checkout', { i });
    await people.service.stop();
    const files = readdirSync(people.service.data, { recursive: true, encoding: 'utf8', withFileTypes: true });
    const bytes = files.filter((file) => file.isFile()).map((file) => readFileSync(join(file.parentPath, file.name)));
    expect(bytes.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(10_000);
    for (const content of bytes) {
      expect(content.includes(i)).toBe(false);
      expect(content.includes(i.slice(-40))).toBe(false);
      expect(content.includes(Buffer.from(i.slice(-40), 'hex'))).toBe(false);
    }
    expect(people.service.log()).not.toContain(i);
    expect(people.service.log()).not.toContain('ann-of-the-log');
  });
});

const secret = Buffer.alloc(32);
const ttlMs = 1000;
const application = { number: 1, environments: [] } as unknown as Application;

/** Opens the instance ids of a main thread and of a thread that follows it. */
function openInstances() {
  const store = temporaryUsage();
  const clock = testClock();
  const thread = new ThreadInstances(ttlMs, secret);
  const events: string[] = [];
  const put = (mint: Parameters<InstanceDeps['usage']['keepMint']>[0]) =>
    transact(store.lmdb, () => putHashedMint(store, hashedId(mint)));
  let random = 0;
  const main = new Instances({
    usage: {
      findPeople: () => store,
      digestSecret: secret,
      resolvesLater: false,
      keepMint: async (mint) => put(mint),
      async forget({ digest }) {
        events.push(`forgotten, thread ${knows() ? 'knows' : 'does not know'} the id`);
        transact(store.lmdb, () => removeIdentity(store, 1, Buffer.from(digest, 'hex')));
      },
    },
    randomBytes(length) {
      random += 1;
      return new Uint8Array(length).fill(random);
    },
    ttlMs,
    graceMs: 500,
    threads: {
      publish: (change) => thread.learn(structuredClone(change)),
      async barrier() {
        events.push('barrier');
        main.find(id, 1, clock.now()); // Stands for a packet that is forwarded during the barrier.
      },
    },
  });
  const id = newInstanceId(digestIdentity(secret, 1, 'ann'), (length) => new Uint8Array(length));
  const now = clock.now();
  const life = { expiresAt: now + ttlMs, graceUntil: now };
  put({ application: 1, instanceId: id, ...hashIdentity('ann'), profile: '{}', ...life });
  const knows = (instanceId = id) => thread.knows(instanceId, 1, clock.now());
  return { store, clock, thread, main, id, knows, events };
}

test('a thread caches an instance id for a minute after the main thread has found the id', () => {
  const { clock, thread, main, id, knows } = openInstances();
  expect(knows()).toBe(false);
  expect(thread.find(id, 1, clock.now())).toBeUndefined();
  const found = main.find(id, 1, clock.now());
  expect(thread.find(id, 1, clock.now())).toEqual(found);
  expect(thread.knows(id, 2, clock.now())).toBe(false);
  expect(thread.find(id, 2, clock.now())).toBeUndefined();
  clock.advance(ttlMs);
  expect(knows()).toBe(false);
});

test('a packet is attributed to the person of its instance id even if the id expires between check and count', () => {
  const { clock, thread, main, id, knows } = openInstances();
  const found = main.find(id, 1, clock.now());
  expect(knows()).toBe(true);
  clock.advance(ttlMs);
  expect(found).toMatchObject({ person: thread.find(id, 1, clock.now())!.person });
});

test('the use of an instance id in a thread extends its lifetime in the main thread, too', () => {
  const { store, clock, thread, main, id } = openInstances();
  main.find(id, 1, clock.now());
  clock.advance(ttlMs - 1);
  const use = thread.find(id, 1, clock.now())?.use;
  expect(use).toEqual({ application: 1, instanceId: id, expiresAt: clock.now() + ttlMs });
  transact(store.lmdb, () => putHashedUse(store, hashedId(use!)));
  clock.advance(ttlMs - 1);
  expect(thread.find(id, 1, clock.now())).toBeDefined();
  expect(main.find(id, 1, clock.now())).toBeDefined();
});

test('a thread discards a cached instance id when a newer id is minted for the same person', async () => {
  const { clock, main, id, knows } = openInstances();
  const mint = () => main.mint(application, { identity: 'bob', groups: [], claims: {} }, clock.now(), () => {});
  const first = mint();
  await first.durable;
  main.find(id, 1, clock.now());
  main.find(first.instanceId, 1, clock.now());
  expect(knows(first.instanceId)).toBe(true);
  await mint().durable;
  expect(knows(first.instanceId)).toBe(false);
  expect(knows()).toBe(true);
  main.find(first.instanceId, 1, clock.now());
  expect(knows(first.instanceId)).toBe(true); // The first id is valid until its grace period ends.
});

test('a person is forgotten only after all threads have counted earlier packets, and is not found afterwards', async () => {
  const { clock, main, id, knows, events } = openInstances();
  main.find(id, 1, clock.now());
  await main.forget(application, 'ann');
  expect(events).toEqual(['barrier', 'forgotten, thread does not know the id']);
  expect(main.find(id, 1, clock.now())).toBeUndefined();
  expect(knows()).toBe(false);
});

test('a thread clears its cached instance ids when the main thread clears its cache', () => {
  const { clock, main, id, knows } = openInstances();
  main.find(id, 1, clock.now());
  main.readAgain();
  expect(knows()).toBe(false);
});

import { expect, test } from 'vitest';
import {
  type InstanceDeps,
  Instances,
  ThreadInstances,
} from '../../../src/ingest/formats/identities/instances.ts';
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
import { temporaryUsage } from '../../support/temporary-usage.ts';

const secret = Buffer.alloc(32);
const ttlMs = 1000;
const application = { number: 1, environments: [] } as unknown as Application;

/** The instance ids of a main thread and of one that follows it. */
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
      peopleOf: () => store,
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
        main.find(id, 1, clock.now()); // A packet that is forwarded meanwhile.
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

test('a thread knows an id that the main thread has found, for a minute', () => {
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

test('a packet has the person of its instance id if the id expires between check and count', () => {
  const { clock, thread, main, id, knows } = openInstances();
  const found = main.find(id, 1, clock.now());
  expect(knows()).toBe(true);
  clock.advance(ttlMs);
  expect(found).toMatchObject({ person: thread.find(id, 1, clock.now())!.person });
});

test('a use in a thread extends the id, also for the main thread', () => {
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

test('a thread does not know an id after another was minted for the same person', async () => {
  const { clock, main, id, knows } = openInstances();
  const mint = () =>
    main.mint(application, { identity: 'bob', groups: [], claims: {} }, clock.now(), () => {});
  const first = mint();
  await first.durable;
  main.find(id, 1, clock.now());
  main.find(first.instanceId, 1, clock.now());
  expect(knows(first.instanceId)).toBe(true);
  await mint().durable;
  expect(knows(first.instanceId)).toBe(false);
  expect(knows()).toBe(true);
  main.find(first.instanceId, 1, clock.now());
  expect(knows(first.instanceId)).toBe(true); // Until the end of its grace period.
});

test('a person is forgotten after the earlier packets of all threads, and no thread knows them meanwhile', async () => {
  const { clock, main, id, knows, events } = openInstances();
  main.find(id, 1, clock.now());
  await main.forget(application, 'ann');
  expect(events).toEqual(['barrier', 'forgotten, thread does not know the id']);
  expect(main.find(id, 1, clock.now())).toBeUndefined();
  expect(knows()).toBe(false);
});

test('a thread reads ids again when the main thread does', () => {
  const { clock, main, id, knows } = openInstances();
  main.find(id, 1, clock.now());
  main.readAgain();
  expect(knows()).toBe(false);
});

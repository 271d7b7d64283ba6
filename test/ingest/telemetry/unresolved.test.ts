import { expect, test } from 'vitest';
import { Instances } from '../../../src/ingest/formats/identities/instances.ts';
import { addPacket, attribute } from '../../../src/ingest/formats/telemetry/add-packet.ts';
import type { Packet } from '../../../src/ingest/formats/telemetry/packet.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { SeriesDictionary } from '../../../src/storage/commit/series-dictionary.ts';
import {
  digestIdentity,
  hashedId,
  type Mint,
  newInstanceId,
  putHashedMint,
} from '../../../src/storage/lmdb/instances.ts';
import { transact } from '../../../src/storage/lmdb/lmdb.ts';
import type { Application } from '../../../src/storage/lmdb/records.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const secret = Buffer.alloc(32);
const instanceId = newInstanceId(digestIdentity(secret, 1, 'ann'), (length) => new Uint8Array(length));
const application = { number: 1, acceptClientIdentities: true } as Application;
const environment = 3;
const now = 60_000_000;

const mint: Mint = {
  application: 1,
  instanceId,
  high: 1,
  low: 2,
  profile: '{}',
  expiresAt: now + 1000,
  graceUntil: now,
};

/**
 * Opens the instance ids of one of several machines, or of a single machine.
 * @param mintedBefore number of a lookup. Another machine's mint arrives just before this lookup
 */
function openInstances(resolvesLater: boolean, mintedBefore?: number) {
  const store = openUsageTables(temporaryDirectory());
  const none = async () => {};
  let lookups = 0;
  function findPeople() {
    lookups += 1;
    if (lookups === mintedBefore) transact(store.lmdb, () => putHashedMint(store, hashedId(mint)));
    return store;
  }
  const usage = { findPeople, digestSecret: secret, keepMint: none, forget: none, resolvesLater };
  return { store, instances: new Instances({ usage, randomBytes: () => secret, ttlMs: 1000, graceMs: 0 }) };
}

test.each<[string, boolean, Partial<Packet>, boolean]>([
  ['that another machine could have minted is kept for later', true, { i: instanceId }, false],
  ['is dropped on a single machine', false, { i: instanceId }, true],
  ['is dropped if it is malformed', true, { i: `${instanceId}0` }, true],
  ['is dropped if the client also asserts an identity', true, { i: instanceId, u: 'ann' }, true],
])('an unknown instance id %s', async (_, resolvesLater, ids, dropped) => {
  const { store, instances } = openInstances(resolvesLater);
  const packet = { k: 'key', e: 'Production', ...ids };
  const { person, unresolved, instanceDropped } = attribute(instances, packet, application, environment, now);
  expect(instanceDropped).toBe(dropped);
  expect(person === undefined).toBe(ids.u === undefined);
  const kept = { application: 1, environment, instanceId, seconds: 60_000, rows: [] };
  expect(unresolved).toEqual(dropped ? undefined : kept);
  await store.lmdb.close();
});

test.each([1, 2, 3])('an instance id is kept if another machine mints it before lookup %i', async (mintedBefore) => {
  const { store, instances } = openInstances(true, mintedBefore);
  const packet = { k: 'key', e: 'Production', i: instanceId };
  const { person, unresolved, instanceDropped } = attribute(instances, packet, application, environment, now);
  expect(instanceDropped).toBe(false);
  expect(person === undefined).not.toBe(unresolved === undefined);
  await store.lmdb.close();
});

test('a known but expired instance id is dropped', async () => {
  const { store, instances } = openInstances(true);
  transact(store.lmdb, () => putHashedMint(store, hashedId({ ...mint, expiresAt: now - 1 })));
  const packet = { k: 'key', e: 'Production', i: instanceId };
  const { unresolved, instanceDropped } = attribute(instances, packet, application, environment, now);
  expect([unresolved, instanceDropped]).toEqual([undefined, true]);
  await store.lmdb.close();
});

test('addPacket keeps the counts and the exposure of a user whose instance id can be resolved later', async () => {
  const { store } = openInstances(true);
  const series = new SeriesDictionary(store, { features: 9, variants: 9, metrics: 9 }).of(environment);
  const packet = { k: 'key', e: 'Production', f: { checkout: { on: [2, 1], off: [1] } }, m: { amount: 5 } };
  const batch = new Batch();
  const rows: number[] = [];
  addPacket(packet, series, batch, now, undefined, undefined, rows);
  const refs = ['on', 'off'].map((variant) => series.variant('checkout', variant, batch)!);
  expect(rows).toEqual([refs[0], 1000, 2, 1, 0, refs[1], 1000, 1, 0, 0, series.whole, 1000, 0, 0, 0]);
  expect(batch.users.records).toBe(0);
  await store.lmdb.close();
});

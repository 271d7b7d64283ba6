import { createHash } from 'node:crypto';
import type { UsageStore } from './usage.ts';

/**
 * Minted instance ids. None is kept itself, only its SHA-256.
 *
 * `instances`: key: SHA-256 of the id (32 bytes). Value, big-endian: application (u32), digest of the identity (16),
 * the user's hash (two u32), end of its life (f64, Unix ms), day it is listed under (u32), whether it was replaced (u8).
 *
 * `identities`: key: application (u32, big-endian), digest of the identity (16). Value: hash of the id that is current,
 * hash of the one before (32 bytes each, zeros when there is none), then what the application said of it, as JSON.
 *
 * `instanceDays` lists ids by the day (u32, big-endian, days since the epoch) on which to look whether they have
 * expired, followed by the hash. Use makes an id live longer without moving it: the sweep does that when it gets there.
 */
export interface Instance {
  readonly application: number;
  /** See `identityDigest`. */
  readonly digest: Buffer;
  /** Halves of the user's hash. */
  readonly high: number;
  readonly low: number;
  /** Unix ms. */
  readonly expiresAt: number;
  /** Another id was minted since: this one does not live longer by being used. */
  readonly replaced: boolean;
}

interface StoredInstance extends Instance {
  readonly day: number;
}

/** An id to be stored. */
export interface Mint {
  readonly application: number;
  readonly identity: string;
  readonly instanceId: string;
  readonly high: number;
  readonly low: number;
  /** JSON of identity, groups and claims. */
  readonly profile: string;
  /** Unix ms, all three: now, the end of the id's life, and the end of that of the id before it. */
  readonly at: number;
  readonly expiresAt: number;
  readonly graceUntil: number;
}

/** An id was used, and so lives until then (Unix ms). */
export interface InstanceUse {
  readonly instanceId: string;
  readonly expiresAt: number;
}

export const digestBytes = 16;
const hashBytes = 32;
const instanceBytes = 41;
const dayMs = 86_400_000;

/** What a person's records are found by: 128 bits of the SHA-256 of the identity. */
export function identityDigest(identity: string): Buffer {
  return createHash('sha256').update(identity).digest().subarray(0, digestBytes);
}

/** What is stored of an instance id, as last committed; `undefined` when it was never minted, or is gone. */
export function findInstance(store: UsageStore, instanceId: string): Instance | undefined {
  store.instances.resetReadTxn();
  return readInstance(store, hashOf(instanceId));
}

/** What the application said of an identity when it last minted an id for it, as JSON. */
export function findProfile(store: UsageStore, application: number, identity: string): string | undefined {
  store.identities.resetReadTxn();
  const value = store.identities.get(identityKey(application, identityDigest(identity)));
  return value?.toString('utf8', 2 * hashBytes);
}

/**
 * Stores an id. That before it lives until the end of the grace, and the one before that dies. Call it in a
 * transaction: of two mints for one identity the second finds what the first has stored.
 */
export function putMint(store: UsageStore, mint: Mint): void {
  const { application, high, low, expiresAt, graceUntil, at } = mint;
  const digest = identityDigest(mint.identity);
  const key = identityKey(application, digest);
  const hash = hashOf(mint.instanceId);
  const [current, before] = readHashes(store.identities.get(key));
  if (before !== undefined) removeInstance(store, before);
  const kept = current !== undefined && replaceInstance(store, current, at, graceUntil);
  putInstance(store, hash, { application, digest, high, low, expiresAt, replaced: false });
  store.identities.putSync(key, Buffer.concat([hash, kept ? current : noHash, Buffer.from(mint.profile)]));
}

/** Lets an id live longer, unless it was replaced or is gone; call it in a transaction. */
export function putUse(store: UsageStore, { instanceId, expiresAt }: InstanceUse): void {
  const hash = hashOf(instanceId);
  const instance = readInstance(store, hash);
  if (instance === undefined || instance.replaced || instance.expiresAt >= expiresAt) return;
  store.instances.putSync(hash, encodeInstance({ ...instance, expiresAt }));
}

/** Removes an identity of an application with its ids; call it in a transaction. */
export function removeIdentity(store: UsageStore, application: number, digest: Buffer): void {
  const key = identityKey(application, digest);
  const value = store.identities.get(key);
  if (value === undefined) return;
  for (const hash of readHashes(value)) if (hash !== undefined) removeInstance(store, hash);
  store.identities.removeSync(key);
}

/**
 * Removes ids that expired before today, and identities that have none left; call it in a transaction.
 * @param now Unix ms
 * @param limit most ids to look at
 * @returns how many it looked at: 0 when there are no more
 */
export function sweepInstances(store: UsageStore, now: number, limit: number): number {
  const due = [...store.instanceDays.getKeys({ end: dayKey(dayOf(now), nothing), limit })];
  for (const listed of due) sweepInstance(store, listed, now);
  return due.length;
}

function sweepInstance(store: UsageStore, listed: Buffer, now: number): void {
  const hash = listed.subarray(4);
  const instance = readInstance(store, hash);
  store.instanceDays.removeSync(listed);
  if (instance === undefined) return;
  if (instance.expiresAt > now) {
    putInstance(store, hash, instance);
    return;
  }
  store.instances.removeSync(hash);
  const key = identityKey(instance.application, instance.digest);
  const value = store.identities.get(key);
  if (value === undefined) return;
  const left = readHashes(value).map((each) => (each === undefined || each.equals(hash) ? noHash : each));
  if (left.every((each) => each === noHash)) store.identities.removeSync(key);
  else store.identities.putSync(key, Buffer.concat([...left, value.subarray(2 * hashBytes)]));
}

/** Ends an id's life with the grace, for another takes its place; gives whether it lives on until then. */
function replaceInstance(store: UsageStore, hash: Buffer, now: number, graceUntil: number): boolean {
  const instance = removeInstance(store, hash);
  if (instance === undefined) return false;
  const expiresAt = Math.min(instance.expiresAt, graceUntil);
  if (expiresAt <= now) return false;
  putInstance(store, hash, { ...instance, expiresAt, replaced: true });
  return true;
}

function putInstance(store: UsageStore, hash: Buffer, instance: Instance): void {
  const day = dayOf(instance.expiresAt);
  store.instances.putSync(hash, encodeInstance({ ...instance, day }));
  store.instanceDays.putSync(dayKey(day, hash), nothing);
}

function removeInstance(store: UsageStore, hash: Buffer): Instance | undefined {
  const instance = readInstance(store, hash);
  if (instance === undefined) return undefined;
  store.instanceDays.removeSync(dayKey(instance.day, hash));
  store.instances.removeSync(hash);
  return instance;
}

function readInstance(store: UsageStore, hash: Buffer): StoredInstance | undefined {
  const value = store.instances.get(hash);
  if (value === undefined) return undefined;
  return {
    application: value.readUInt32BE(0),
    digest: value.subarray(4, 20),
    high: value.readUInt32BE(20),
    low: value.readUInt32BE(24),
    expiresAt: value.readDoubleBE(28),
    day: value.readUInt32BE(36),
    replaced: value[40] === 1,
  };
}

function encodeInstance(instance: StoredInstance): Buffer {
  const value = Buffer.allocUnsafe(instanceBytes);
  value.writeUInt32BE(instance.application, 0);
  value.set(instance.digest, 4);
  value.writeUInt32BE(instance.high, 20);
  value.writeUInt32BE(instance.low, 24);
  value.writeDoubleBE(instance.expiresAt, 28);
  value.writeUInt32BE(instance.day, 36);
  value[40] = instance.replaced ? 1 : 0;
  return value;
}

type Hashes = readonly [current: Buffer | undefined, before: Buffer | undefined];

const nothing = Buffer.alloc(0);
const noHash = Buffer.alloc(hashBytes);

function readHashes(value: Buffer | undefined): Hashes {
  return [hashAt(value, 0), hashAt(value, hashBytes)];
}

function hashAt(value: Buffer | undefined, at: number): Buffer | undefined {
  const hash = value?.subarray(at, at + hashBytes);
  return hash === undefined || hash.equals(noHash) ? undefined : hash;
}

function hashOf(instanceId: string): Buffer {
  return createHash('sha256').update(instanceId).digest();
}

function identityKey(application: number, digest: Buffer): Buffer {
  const key = Buffer.allocUnsafe(4 + digestBytes);
  key.writeUInt32BE(application, 0);
  key.set(digest, 4);
  return key;
}

function dayOf(at: number): number {
  return Math.floor(at / dayMs);
}

function dayKey(day: number, hash: Buffer): Buffer {
  const key = Buffer.allocUnsafe(4 + hash.length);
  key.writeUInt32BE(day, 0);
  key.set(hash, 4);
  return key;
}

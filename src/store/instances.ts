import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { prefixKey } from './key-prefix.ts';
import type { UsageStore } from './usage.ts';

/**
 * People and the instance ids that were minted for them. An id holds the digest of its person, so one record has all
 * there is to know: minting touches one place in the store, and a lookup is one get. None is kept itself, only its
 * SHA-256.
 *
 * `identities`: key: application (u32, big-endian), digest (16). Value, big-endian: the id that is current and the one
 * before it, each as SHA-256 (32) and end of its life (f64, Unix ms; 0 when there is none), the user's hash (two u32), the
 * day the person is listed under (u32), then what the application said of the person, as JSON. Under the key `secret`:
 * what digests are made with.
 *
 * `identityDays` lists people by the day (u32, big-endian, days since the epoch) on which to look whether their ids have
 * expired, followed by their key. Neither use nor minting moves anybody: the sweep does that when it gets there.
 */
export interface Identity {
  readonly current: Life;
  readonly before: Life;
  /** Halves of the user's hash. */
  readonly high: number;
  readonly low: number;
  readonly day: number;
  /** JSON. */
  readonly profile: Buffer;
}

/** An id by its hash, and when it ends (Unix ms). */
interface Life {
  readonly hash: Buffer;
  readonly expiresAt: number;
}

/** An id that is valid, or was. */
export interface Instance {
  readonly high: number;
  readonly low: number;
  /** Unix ms. */
  readonly expiresAt: number;
  /** Another id was minted since: this one does not live longer by being used. */
  readonly replaced: boolean;
}

/** An id to be stored. */
export interface Mint {
  readonly application: number;
  readonly instanceId: string;
  readonly high: number;
  readonly low: number;
  /** JSON of identity, groups and claims. */
  readonly profile: string;
  /** Unix ms, both: the end of the id's life, and the latest end of that of the id before it. */
  readonly expiresAt: number;
  readonly graceUntil: number;
}

/** An id was used, and so lives until then (Unix ms). */
export interface InstanceUse {
  readonly application: number;
  readonly instanceId: string;
  readonly expiresAt: number;
}

export const digestBytes = 16;
const randomLength = 20;
const hashBytes = 32;
const lifeBytes = hashBytes + 8;
const headBytes = 2 * lifeBytes + 12;
const dayMs = 86_400_000;

type RandomBytes = (length: number) => Uint8Array;

/** What digests are made with; made when there is none yet. It never changes. */
export function openDigestSecret(store: UsageStore, randomBytes: RandomBytes): Buffer {
  const key = Buffer.from('secret');
  const known = store.identities.get(key);
  if (known !== undefined) return known;
  const secret = Buffer.from(randomBytes(32));
  store.identities.putSync(key, secret);
  return secret;
}

/**
 * What a person's records are found by. It is a part of every id, hence the secret: who has an id cannot find out by
 * trying whose it is.
 */
export function digestIdentity(secret: Buffer, application: number, identity: string): Buffer {
  return createHmac('sha256', secret).update(`${application}/${identity}`).digest().subarray(0, digestBytes);
}

/** A new id of a person: a mark, the digest and 160 random bits. */
export function newInstanceId(digest: Buffer, randomBytes: RandomBytes): string {
  return `fm_in_${digest.toString('hex')}${Buffer.from(randomBytes(randomLength)).toString('hex')}`;
}

const pattern = /^fm_in_[0-9a-f]{72}$/;

/** The digest in an id; `undefined` when a text cannot be an id. */
export function digestOfInstance(instanceId: string): Buffer | undefined {
  return pattern.test(instanceId) ? Buffer.from(instanceId.slice(6, 38), 'hex') : undefined;
}

/** What is stored of an application's id, as last committed; `undefined` when it was never minted, or is gone. */
export function findInstance(
  store: UsageStore,
  application: number,
  instanceId: string,
): Instance | undefined {
  const key = keyOfInstance(application, instanceId);
  if (key === undefined) return undefined;
  store.identities.resetReadTxn();
  const identity = readIdentity(store, key);
  if (identity === undefined) return undefined;
  const { current, before, high, low } = identity;
  const hash = hashOf(instanceId);
  if (timingSafeEqual(hash, current.hash)) {
    return { high, low, expiresAt: current.expiresAt, replaced: false };
  }
  if (!timingSafeEqual(hash, before.hash)) return undefined;
  return { high, low, expiresAt: before.expiresAt, replaced: true };
}

/** What an application said of a person when it last minted an id, as JSON. */
export function findProfile(store: UsageStore, application: number, digest: Buffer): string | undefined {
  store.identities.resetReadTxn();
  return readIdentity(store, identityKey(application, digest))?.profile.toString();
}

/**
 * Stores an id. That before it lives until the end of the grace, and the one before that dies. Call it in a
 * transaction: of two mints for one person the second finds what the first has stored.
 */
export function putMint(store: UsageStore, mint: Mint): void {
  const { application, instanceId, high, low, expiresAt, graceUntil } = mint;
  const key = keyOfInstance(application, instanceId)!;
  const known = readIdentity(store, key);
  const day = known?.day ?? dayOf(expiresAt);
  if (known === undefined) store.identityDays.putSync(dayKey(day, key), nothing);
  const before =
    known === undefined
      ? noLife
      : { ...known.current, expiresAt: Math.min(known.current.expiresAt, graceUntil) };
  const current = { hash: hashOf(instanceId), expiresAt };
  putIdentity(store, key, { current, before, high, low, day, profile: Buffer.from(mint.profile) });
}

/** Lets an id live longer, unless it was replaced or is gone; call it in a transaction. */
export function putUse(store: UsageStore, { application, instanceId, expiresAt }: InstanceUse): void {
  const key = keyOfInstance(application, instanceId)!;
  const known = readIdentity(store, key);
  if (known === undefined || !known.current.hash.equals(hashOf(instanceId))) return;
  if (known.current.expiresAt >= expiresAt) return;
  putIdentity(store, key, { ...known, current: { ...known.current, expiresAt } });
}

/** Removes a person of an application, with the ids; call it in a transaction. */
export function removeIdentity(store: UsageStore, application: number, digest: Buffer): void {
  const key = identityKey(application, digest);
  const known = readIdentity(store, key);
  if (known === undefined) return;
  store.identityDays.removeSync(dayKey(known.day, key));
  store.identities.removeSync(key);
}

/**
 * Removes the people of an application that is gone; call it in a transaction.
 * @returns people removed, `limit` at the most
 */
export function removeAllIdentities(store: UsageStore, application: number, limit: number): number {
  const people = { start: prefixKey(application), end: prefixKey(application + 1), limit };
  const digests = [...store.identities.getKeys(people)].map((key) => Buffer.from(key.subarray(4)));
  for (const digest of digests) removeIdentity(store, application, digest);
  return digests.length;
}

/**
 * Removes people whose ids have expired before today; call it in a transaction.
 * @param now Unix ms
 * @param limit most people to look at
 * @returns how many it looked at: 0 when there are no more
 */
export function sweepInstances(store: UsageStore, now: number, limit: number): number {
  const due = [...store.identityDays.getKeys({ end: dayKey(dayOf(now), nothing), limit })];
  for (const listed of due) {
    const key = listed.subarray(4);
    const identity = readIdentity(store, key);
    store.identityDays.removeSync(listed);
    if (identity === undefined) continue;
    const end = Math.max(identity.current.expiresAt, identity.before.expiresAt);
    if (end <= now) {
      store.identities.removeSync(key);
      continue;
    }
    store.identityDays.putSync(dayKey(dayOf(end), key), nothing);
    putIdentity(store, key, { ...identity, day: dayOf(end) });
  }
  return due.length;
}

const nothing = Buffer.alloc(0);
const noLife: Life = { hash: Buffer.alloc(hashBytes), expiresAt: 0 };

function readIdentity(store: UsageStore, key: Buffer): Identity | undefined {
  const value = store.identities.get(key);
  if (value === undefined) return undefined;
  return {
    current: readLife(value, 0),
    before: readLife(value, lifeBytes),
    high: value.readUInt32BE(2 * lifeBytes),
    low: value.readUInt32BE(2 * lifeBytes + 4),
    day: value.readUInt32BE(2 * lifeBytes + 8),
    profile: value.subarray(headBytes),
  };
}

function readLife(value: Buffer, at: number): Life {
  return { hash: value.subarray(at, at + hashBytes), expiresAt: value.readDoubleBE(at + hashBytes) };
}

function putIdentity(store: UsageStore, key: Buffer, identity: Identity): void {
  const value = Buffer.allocUnsafe(headBytes + identity.profile.length);
  for (const [at, { hash, expiresAt }] of [identity.current, identity.before].entries()) {
    value.set(hash, at * lifeBytes);
    value.writeDoubleBE(expiresAt, at * lifeBytes + hashBytes);
  }
  value.writeUInt32BE(identity.high, 2 * lifeBytes);
  value.writeUInt32BE(identity.low, 2 * lifeBytes + 4);
  value.writeUInt32BE(identity.day, 2 * lifeBytes + 8);
  value.set(identity.profile, headBytes);
  store.identities.putSync(key, value);
}

function hashOf(instanceId: string): Buffer {
  return createHash('sha256').update(instanceId).digest();
}

function keyOfInstance(application: number, instanceId: string): Buffer | undefined {
  const digest = digestOfInstance(instanceId);
  return digest === undefined ? undefined : identityKey(application, digest);
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

function dayKey(day: number, key: Buffer): Buffer {
  const listed = Buffer.allocUnsafe(4 + key.length);
  listed.writeUInt32BE(day, 0);
  listed.set(key, 4);
  return listed;
}

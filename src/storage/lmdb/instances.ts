import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { keysIn, prefixedKey, prefixKey } from './key-prefix.ts';
import type { Table } from './lmdb.ts';
import type { UsageTables } from './usage.ts';

/**
 * People and the instance ids that were issued to them ("minted"). An id contains the digest of its person, so one
 * record per person is enough. Minting an id writes one record, and a lookup reads one record. The store keeps the
 * SHA-256 of an id, not the id.
 *
 * `identities`: key: application (u32, big-endian), digest (16). Value, big-endian: the current id and the previous id,
 * each as SHA-256 (32) and expiry (f64, Unix ms; 0 without an id), the user's hash (two u32), the day of the person's
 * entry in `identityDays` (u32), then the person's profile as JSON. The key `secret` holds the HMAC key of the digests.
 *
 * `identityDays` lists the days on which a sweep visits people to remove expired ids. Key: the day (u32, big-endian,
 * days since the epoch) on which the person's ids can have expired, then the person's key. Only the sweep moves the
 * entry, when it visits the person. Using or minting an id does not move it.
 */
export interface Identity {
  readonly current: Life;
  readonly before: Life;
  /** Halves of the user's hash. */
  readonly high: number;
  readonly low: number;
  readonly day: number;
  /** The profile as JSON. */
  readonly profile: Buffer;
}

export interface IdentityTables {
  readonly identities: Records;
  readonly identityDays: Records;
}

type Records = Pick<Table, 'resetReadTxn'> & {
  get(key: Buffer): Buffer | undefined;
  putSync(key: Buffer, value: Buffer): unknown;
  removeSync(key: Buffer): unknown;
};

/** The hash of an id, and the expiry of the id (Unix ms). */
interface Life {
  readonly hash: Buffer;
  readonly expiresAt: number;
}

export interface Instance {
  readonly high: number;
  readonly low: number;
  /** Unix ms. */
  readonly expiresAt: number;
  /** True if a newer id was minted. A use of this id then no longer extends its lifetime. */
  readonly replaced: boolean;
}

export interface Mint {
  readonly application: number;
  readonly instanceId: string;
  readonly high: number;
  readonly low: number;
  /** The profile: JSON of identity, groups and claims. */
  readonly profile: string;
  /** Expiry of this id, Unix ms. `graceUntil` is the latest possible expiry of the previous id. */
  readonly expiresAt: number;
  readonly graceUntil: number;
}

export interface InstanceUse {
  readonly application: number;
  readonly instanceId: string;
  readonly expiresAt: number;
}

/** The hash of an id. The hash cannot be used as an id. */
export interface HashedId {
  readonly application: number;
  /** The digest of the person: see `digestIdentity`. */
  readonly digest: Uint8Array;
  /** SHA-256 of the id. */
  readonly hash: Uint8Array;
}

export type HashedMint = HashedId & Omit<Mint, 'instanceId'>;
export type HashedUse = HashedId & Omit<InstanceUse, 'instanceId'>;

export const digestBytes = 16;
const randomLength = 20;
const hashBytes = 32;
const lifeBytes = hashBytes + 8;
const headBytes = 2 * lifeBytes + 12;
const dayMs = 86_400_000;

type RandomBytes = (length: number) => Uint8Array;

/** The HMAC key of the digests, created at first use. The key never changes. */
export function openDigestSecret(store: UsageTables, randomBytes: RandomBytes): Buffer {
  const key = Buffer.from('secret');
  const known = store.identities.get(key);
  if (known !== undefined) return known;
  const secret = Buffer.from(randomBytes(32));
  store.identities.putSync(key, secret);
  return secret;
}

/**
 * Computes the key of a person's records, which every id of the person contains. A secret is part of the computation,
 * so that the holder of an id cannot find the person by trying identities.
 */
export function digestIdentity(secret: Buffer, application: number, identity: string): Buffer {
  return createHmac('sha256', secret).update(`${application}/${identity}`).digest().subarray(0, digestBytes);
}

export function newInstanceId(digest: Buffer, randomBytes: RandomBytes): string {
  return `fm_in_${digest.toString('hex')}${Buffer.from(randomBytes(randomLength)).toString('hex')}`;
}

const pattern = /^fm_in_[0-9a-f]{72}$/;

/** The digest in an id; `undefined` if the text is not an id. */
export function digestOfInstance(instanceId: string): Buffer | undefined {
  return pattern.test(instanceId) ? Buffer.from(instanceId.slice(6, 38), 'hex') : undefined;
}

/**
 * Finds an application's id in its last committed state; `undefined` if the id was never minted, or has expired and was
 * swept.
 */
export function findInstance(store: IdentityTables, application: number, instanceId: string): Instance | undefined {
  const digest = digestOfInstance(instanceId);
  if (digest === undefined) return undefined;
  store.identities.resetReadTxn();
  const identity = readIdentity(store, prefixedKey(application, digest));
  if (identity === undefined) return undefined;
  const { current, before, high, low } = identity;
  const hash = hashInstanceId(instanceId);
  if (timingSafeEqual(hash, current.hash)) {
    return { high, low, expiresAt: current.expiresAt, replaced: false };
  }
  if (!timingSafeEqual(hash, before.hash)) return undefined;
  return { high, low, expiresAt: before.expiresAt, replaced: true };
}

/**
 * Returns the owner of an id that was valid at a time (Unix ms), as the halves of the user's hash. Call this in a
 * transaction.
 */
export function resolveInstance(
  store: UsageTables,
  { application, digest, hash }: HashedId,
  at: number,
): Pick<Instance, 'high' | 'low'> | undefined {
  const identity = readIdentity(store, prefixedKey(application, digest));
  if (identity === undefined) return undefined;
  const life = [identity.current, identity.before].find((each) => each.hash.equals(hash));
  return life !== undefined && life.expiresAt > at ? identity : undefined;
}

export function findProfile(store: UsageTables, application: number, digest: Buffer): string | undefined {
  store.identities.resetReadTxn();
  return readIdentity(store, prefixedKey(application, digest))?.profile.toString();
}

/**
 * Stores a new id. The previous id stays valid for the grace period; the id before that becomes invalid. If the id is
 * already stored, nothing changes. Call this in a transaction, so that the person's next mint finds this id.
 */
export function putHashedMint(store: IdentityTables, mint: HashedMint): void {
  const { application, digest, hash, high, low, expiresAt, graceUntil } = mint;
  const key = prefixedKey(application, digest);
  const known = readIdentity(store, key);
  if (known?.current.hash.equals(hash) || known?.before.hash.equals(hash)) return;
  const day = known?.day ?? computeDay(expiresAt);
  if (known === undefined) store.identityDays.putSync(prefixedKey(day, key), nothing);
  const before =
    known === undefined ? noLife : { ...known.current, expiresAt: Math.min(known.current.expiresAt, graceUntil) };
  const current = { hash: Buffer.from(hash), expiresAt };
  putIdentity(store, key, { current, before, high, low, day, profile: Buffer.from(mint.profile) });
}

/** Extends the lifetime of an id, unless the id was replaced or removed. Call this in a transaction. */
export function putHashedUse(store: IdentityTables, { application, digest, hash, expiresAt }: HashedUse): void {
  const key = prefixedKey(application, digest);
  const known = readIdentity(store, key);
  if (known === undefined || !known.current.hash.equals(hash)) return;
  if (known.current.expiresAt >= expiresAt) return;
  putIdentity(store, key, { ...known, current: { ...known.current, expiresAt } });
}

/** Removes a person of an application, and the person's ids. Call this in a transaction. */
export function removeIdentity(store: IdentityTables, application: number, digest: Buffer): void {
  const key = prefixedKey(application, digest);
  const known = readIdentity(store, key);
  if (known === undefined) return;
  store.identityDays.removeSync(prefixedKey(known.day, key));
  store.identities.removeSync(key);
}

/** Removes the people of a deleted application, in a transaction. @returns the number of people, at most `limit` */
export function removeAllIdentities(store: UsageTables, application: number, limit: number): number {
  const people = { start: prefixKey(application), end: prefixKey(application + 1), limit };
  const keys = keysIn(store.identities, people);
  for (const key of keys) removeIdentity(store, application, key.subarray(4));
  return keys.length;
}

/**
 * Removes people whose ids expired before today. Call this in a transaction.
 * @param now Unix ms
 * @param limit maximum number of people to visit
 * @returns the number of people visited; 0 if no visit is due
 */
export function sweepInstances(store: UsageTables, now: number, limit: number): number {
  const due = [...store.identityDays.getKeys({ end: prefixedKey(computeDay(now), nothing), limit })];
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
    store.identityDays.putSync(prefixedKey(computeDay(end), key), nothing);
    putIdentity(store, key, { ...identity, day: computeDay(end) });
  }
  return due.length;
}

const nothing = Buffer.alloc(0);
const noLife: Life = { hash: Buffer.alloc(hashBytes), expiresAt: 0 };

function readIdentity(store: IdentityTables, key: Buffer): Identity | undefined {
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

function putIdentity(store: IdentityTables, key: Buffer, identity: Identity): void {
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

export function hashInstanceId(instanceId: string): Buffer {
  return hash('sha256', instanceId, 'buffer');
}

/** Replaces the id in an object by its digest and its hash. @param named has an id that `digestOfInstance` can read */
export function hashedId<T extends { readonly instanceId: string }>({
  instanceId,
  ...rest
}: T): Omit<T, 'instanceId'> & Pick<HashedId, 'digest' | 'hash'> {
  return { ...rest, digest: digestOfInstance(instanceId)!, hash: hashInstanceId(instanceId) };
}

function computeDay(at: number): number {
  return Math.floor(at / dayMs);
}

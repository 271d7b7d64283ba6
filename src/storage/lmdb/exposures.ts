import { type Counts, countsCodec } from './blocks.ts';
import { digestBytes } from './instances.ts';
import { keysIn, prefixedKey, prefixKey } from './key-prefix.ts';
import type { UsageTables } from './usage.ts';

/**
 * The variants that a person was given in one environment.
 *
 * `exposures`: key: environment (u32, big-endian), digest of the identity (16). Value, little-endian: the day of the
 * person's entry in `exposureDays` (u32), then rows of series ordinal (u32), first and last time (u32 each, Unix
 * seconds), checks, used and viewed (f64 each). The key without a digest has the number of people in the environment
 * (u32).
 *
 * `exposureDays` lists the days on which a sweep visits people to remove expired rows. Key: a day (u32, big-endian,
 * days since the epoch), then the person's key. The day is at or before the oldest `lastSeen` of the person's
 * rows. The sweep moves the entry to a later day when it visits the person. Packets do not move the entry.
 */
export interface Exposure extends Counts {
  /** Unix seconds. */
  firstSeen: number;
  lastSeen: number;
}

export interface Exposures {
  readonly day: number;
  readonly rows: Map<number, Exposure>;
}

/** Maximum number of rows of a person in an environment. Further exposures are dropped until a row expires. */
export const rowsPerPerson = 512;

const headBytes = 4;
const rowBytes = 12 + countsCodec.bytes;
const daySeconds = 86_400;

/** The key of a person's exposures. @param digest see `digestIdentity` */
export function exposuresKey(environment: number, digest: Uint8Array): Buffer {
  return prefixedKey(environment, digest);
}

export function readExposures(store: UsageTables, key: Buffer): Exposures | undefined {
  const value = store.exposures.get(key);
  return value === undefined ? undefined : { day: value.readUInt32LE(0), rows: decodeExposures(value) };
}

export function decodeExposures(value: Buffer): Map<number, Exposure> {
  const rows = new Map<number, Exposure>();
  for (let at = headBytes; at < value.length; at += rowBytes) {
    const counts = countsCodec.read(value, at + 12);
    const firstSeen = value.readUInt32LE(at + 4);
    rows.set(value.readUInt32LE(at), { firstSeen, lastSeen: value.readUInt32LE(at + 8), ...counts });
  }
  return rows;
}

/** Replaces the exposures of a listed person (see `listPerson`). Call this in a transaction. */
export function putExposures(store: UsageTables, key: Buffer, { day, rows }: Exposures): void {
  const value = Buffer.allocUnsafe(headBytes + rows.size * rowBytes);
  value.writeUInt32LE(day, 0);
  let at = headBytes;
  for (const [ordinal, row] of rows) {
    value.writeUInt32LE(ordinal, at);
    value.writeUInt32LE(row.firstSeen, at + 4);
    value.writeUInt32LE(row.lastSeen, at + 8);
    countsCodec.write(value, at + 12, row);
    at += rowBytes;
  }
  store.exposures.putSync(key, value);
}

/**
 * Adds a person without exposures, who is then counted. Call this in a transaction.
 * @param seconds Unix seconds
 * @param limit maximum number of people per environment
 * @returns empty exposures, or `undefined` if the environment is full
 */
export function listPerson(store: UsageTables, key: Buffer, seconds: number, limit: number): Exposures | undefined {
  const people = countPeople(store, key);
  if (people >= limit) return undefined;
  putPeople(store, key, people + 1);
  const day = Math.floor(seconds / daySeconds);
  store.exposureDays.putSync(prefixedKey(day, key), nothing);
  return { day, rows: new Map() };
}

/** Removes a person's exposures. Call this in a transaction. */
export function removeExposures(store: UsageTables, key: Buffer): void {
  const value = store.exposures.get(key);
  if (value === undefined) return;
  store.exposureDays.removeSync(prefixedKey(value.readUInt32LE(0), key));
  store.exposures.removeSync(key);
  putPeople(store, key, countPeople(store, key) - 1);
}

/** Removes the exposures of a deleted environment, in a transaction. @returns the number of people, at most `limit` */
export function removeAllExposures(store: UsageTables, environment: number, limit: number): number {
  const people = { start: exposuresKey(environment, noDigest), end: prefixKey(environment + 1), limit };
  const keys = keysIn(store.exposures, people);
  for (const key of keys) removeExposures(store, key);
  return keys.length;
}

/**
 * Removes exposures that were last seen more than `keptDays` ago. Call this in a transaction.
 * @param now Unix ms
 * @param limit maximum number of people to visit
 * @returns the number of visited people; 0 if no visit is due
 */
export function sweepExposures(store: UsageTables, now: number, limit: number, keptDays = 30): number {
  const oldest = oldestKept(now, keptDays);
  const end = prefixedKey(Math.max(0, Math.floor(oldest / daySeconds)), nothing);
  const due = [...store.exposureDays.getKeys({ end, limit })];
  for (const listed of due) sweepPerson(store, listed, oldest);
  return due.length;
}

/** Returns the time (Unix seconds) before which exposures are deleted if they were not seen again. */
export function oldestKept(now: number, keptDays: number): number {
  return Math.floor(now / 1000) - keptDays * daySeconds;
}

function sweepPerson(store: UsageTables, listed: Buffer, oldest: number): void {
  const key = listed.subarray(4);
  const exposures = readExposures(store, key);
  if (exposures === undefined) {
    store.exposureDays.removeSync(listed);
    return;
  }
  const kept = [...exposures.rows].filter(([, { lastSeen }]) => lastSeen >= oldest);
  if (kept.length === 0) {
    removeExposures(store, key);
    return;
  }
  const day = Math.floor(Math.min(...kept.map(([, { lastSeen }]) => lastSeen)) / daySeconds);
  store.exposureDays.removeSync(listed);
  store.exposureDays.putSync(prefixedKey(day, key), nothing);
  putExposures(store, key, { day, rows: new Map(kept) });
}

const nothing = Buffer.alloc(0);
const noDigest = Buffer.alloc(digestBytes);

function countPeople(store: UsageTables, key: Buffer): number {
  return store.exposures.get(key.subarray(0, 4))?.readUInt32LE(0) ?? 0;
}

function putPeople(store: UsageTables, key: Buffer, people: number): void {
  if (people === 0) {
    store.exposures.removeSync(key.subarray(0, 4));
    return;
  }
  const value = Buffer.allocUnsafe(4);
  value.writeUInt32LE(people, 0);
  store.exposures.putSync(key.subarray(0, 4), value);
}

import { prefixedKey, prefixKey } from './key-prefix.ts';
import type { UsageTables } from './usage.ts';

/**
 * Running totals that senders report in place of counts. The last value of each total is stored, and only an increase
 * counts. A total can thus be received repeatedly, late, and by several machines.
 *
 * Key: application (u32, big-endian) and the digest (16) of the total. Value, four little-endian f64: the value, and
 * three times as Unix ms: the time of the value, the time when the total was last received, and the time of the first
 * value after the sender's last restart (0 without a restart). The record whose key has no digest is the number of the
 * application's totals (u32, little-endian).
 */
export interface Total {
  readonly application: number;
  /** Identifies the sender, the subject of its count, and the time when the sender began to count. */
  readonly digest: Uint8Array;
  /** The series (see `seriesRef`) and the time bucket (see `encodeBucket`) in which the increase counts. */
  readonly ref: number;
  readonly bucket: number;
  readonly value: number;
  /** The sender's time of the value, Unix ms. */
  readonly at: number;
  /** Time when the total was received, Unix ms. */
  readonly received: number;
  /** 1 if the sender began so recently that an unknown total was never counted; otherwise 0. See `freshMs`. */
  readonly fresh: number;
}

/** Maximum number of totals per application: about 10 MB. */
export const maxTotals = 100_000;

/** Time after which a total that was not received again is forgotten, ms. */
export const totalLifeMs = 48 * 3_600_000;
/** Maximum age of an unknown total that counts as new, ms. It is below `totalLifeMs`, because clocks differ. */
export const freshMs = 24 * 3_600_000;

const keyBytes = 20;
export const totalBytes = 32;

/**
 * Records a total, and returns the amount of it that is not counted yet. An unknown total that is not fresh might have
 * been counted and forgotten, so only its later increase counts. If a later value is smaller, the sender has started
 * again: the whole value counts, and values from before the restart no longer count. Call this in a transaction.
 */
export function recordTotal(store: Pick<UsageTables, 'totals'>, total: Total): number {
  const { application, digest, value, at, received, fresh } = total;
  const key = prefixedKey(application, digest);
  const put = (...numbers: StoredTotal) => store.totals.putSync(key, Buffer.from(Float64Array.of(...numbers).buffer));
  const known = store.totals.get(key);
  if (known === undefined) {
    if (!addOne(store, application)) return 0;
    put(value, at, received, 0);
    return fresh === 1 ? value : 0;
  }
  const [before, beforeAt, lastReceived, beganAt] = decode(known);
  const latest = Math.max(received, lastReceived);
  if (value < before ? at <= beforeAt : at < beganAt) {
    put(before, beforeAt, latest, beganAt);
    return 0;
  }
  put(value, Math.max(at, beforeAt), latest, value < before ? at : beganAt);
  return value < before ? value : value - before;
}

/** The last value of a total, and the time of the value; `undefined` if no value is stored yet. */
export function lastTotal(
  store: Pick<UsageTables, 'totals'>,
  { application, digest }: Pick<Total, 'application' | 'digest'>,
): Pick<Total, 'value' | 'at'> | undefined {
  const known = store.totals.get(prefixedKey(application, digest));
  if (known === undefined) return undefined;
  const [value, at] = decode(known);
  return { value, at };
}

export function countTotals(store: Pick<UsageTables, 'totals'>, application: number): number {
  return store.totals.get(prefixKey(application))?.readUInt32LE(0) ?? 0;
}

/**
 * Forgets totals that were not received for a long time. Call this in a transaction.
 * @param from the first key to visit
 * @param limit maximum number of records to visit
 * @returns the next key to visit; `undefined` at the end
 */
export function sweepTotals(
  store: Pick<UsageTables, 'totals'>,
  now: number,
  from: Buffer,
  limit: number,
): Buffer | undefined {
  const visited = Array.from(store.totals.getRange({ start: from, limit }), ({ key, value }) => ({
    key: Buffer.from(key),
    isPast: key.length === keyBytes && value.readDoubleLE(16) < now - totalLifeMs,
  }));
  for (const { key, isPast } of visited) {
    if (!isPast) continue;
    const application = key.readUInt32BE(0);
    store.totals.removeSync(key);
    putNumber(store, application, countTotals(store, application) - 1);
  }
  return visited.length < limit ? undefined : Buffer.concat([visited.at(-1)!.key, Buffer.of(0)]);
}

/** Counts a new total of an application. @returns false if the application has the maximum number of totals */
function addOne(store: Pick<UsageTables, 'totals'>, application: number): boolean {
  const number = countTotals(store, application);
  if (number >= maxTotals) return false;
  putNumber(store, application, number + 1);
  return true;
}

function putNumber(store: Pick<UsageTables, 'totals'>, application: number, number: number): void {
  const key = prefixKey(application);
  if (number <= 0) {
    store.totals.removeSync(key);
    return;
  }
  const value = Buffer.allocUnsafe(4);
  value.writeUInt32LE(number, 0);
  store.totals.putSync(key, value);
}

/** The value, its time, the time when the total was last received, and the time when the sender restarted. */
type StoredTotal = [value: number, at: number, received: number, beganAt: number];

function decode(record: Buffer): StoredTotal {
  return [0, 8, 16, 24].map((at) => record.readDoubleLE(at)) as StoredTotal;
}

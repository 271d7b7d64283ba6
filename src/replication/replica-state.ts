import { type Chore, erasures } from '../storage/aggregate/maintain.ts';
import { decodeMinute, minutesPerDay, seriesPerEnvironment } from '../storage/lmdb/blocks.ts';
import { keysIn, pairKey, prefixKey } from '../storage/lmdb/key-prefix.ts';
import {
  getMessageLife,
  type Message,
  messageLifeMs,
  permanentAt,
  putMessage,
  takeMessages,
} from '../storage/lmdb/messages.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import { readAt, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { DeltaHead } from './delta.ts';
import type { ErasedThings, Horizon, ReplicaSettings } from './entry.ts';
import type { LogPosition } from './postgres/follower.ts';
import { maxSkewMs } from './postgres/shared-clock.ts';

/**
 * The state of a replica other than its counts. Facts whose names begin with `own:` belong to this node. All other
 * facts derive from the log, and are in snapshots.
 */
interface ReplicaFacts {
  'own:applied': LogPosition;
  'own:loading': boolean;
  'own:loads': number;
  settings: ReplicaSettings;
  /** The hour (since the epoch) up to which retention was applied. */
  retired: number;
  /** People forgotten at this position or earlier are no longer listed. */
  forgottenUntil: number;
  streams: number;
  reached: Pick<Horizon, 'through' | 'now' | 'nodes'>;
  /** See `ChangedDays`: days changed by entries up to this position are listed. */
  daysMarked: number;
  /** See `ChangedDays`: some days changed by entries up to this position are not listed. */
  daysUnmarked: number;
  [stream: `stream:${string}`]: StreamFacts;
}

/**
 * The number of a stream in `streamSeries`, and the header of its last delta. They are kept after the stream is closed,
 * so that a database that is filled from this replica does not accept the stream's deltas again.
 */
export interface StreamFacts extends Pick<DeltaHead, 'seq' | 'through' | 'since' | 'version'> {
  readonly number: number;
  readonly isClosed?: true;
}

/** Reads and caches the facts. */
export class ReplicaState {
  readonly #store: Pick<ReplicaStore, 'replica'>;
  readonly #at: Snapshot | undefined;
  readonly #known = new Map<string, unknown>();

  /** @param at snapshot from which the facts are read */
  constructor(store: Pick<ReplicaStore, 'replica'>, at?: Snapshot) {
    this.#store = store;
    this.#at = at;
  }

  get<Name extends keyof ReplicaFacts>(name: Name): ReplicaFacts[Name] | undefined {
    if (this.#known.has(String(name))) return this.#known.get(String(name)) as ReplicaFacts[Name] | undefined;
    const value = this.#store.replica.get(Buffer.from(String(name)), readAt(this.#at));
    const fact = value === undefined ? undefined : (JSON.parse(value.toString()) as ReplicaFacts[Name]);
    this.#known.set(String(name), fact);
    return fact;
  }

  /** Sets a fact. Call it in a transaction. */
  set<Name extends keyof ReplicaFacts>(name: Name, fact: ReplicaFacts[Name]): void {
    this.#known.set(String(name), fact);
    this.#store.replica.putSync(Buffer.from(String(name)), Buffer.from(JSON.stringify(fact)));
  }

  /** Removes a fact. Call it in a transaction. */
  remove(name: keyof ReplicaFacts): void {
    this.#known.delete(String(name));
    this.#store.replica.removeSync(Buffer.from(String(name)));
  }

  streams(): string[] {
    const range = { start: Buffer.from(streamPrefix), end: Buffer.from('stream;') };
    const keys = Array.from(this.#store.replica.getKeys(range), (key) => key.toString());
    return keys.map((key) => key.slice(streamPrefix.length));
  }

  /** Drops the cache after a failed transaction. */
  forget(): void {
    this.#known.clear();
  }
}

const streamPrefix = 'stream:';

/**
 * Stores the position of the last entry that changed each day of an environment. When a late entry changes a day, the
 * export writes that day again.
 *
 * In the table `replica`, key: `day:`, the number of the environment, `:`, the day since the epoch; value: the
 * position. Earlier versions do not update these rows. `daysMarked` is therefore the position up to which rows were
 * last written, and `daysUnmarked` the position up to which some rows are missing.
 */
export class ChangedDays {
  readonly #store: Pick<ReplicaStore, 'replica'>;
  readonly #state: ReplicaState;
  readonly #changed = new Map<number, number>();
  #position = 0;
  #last = -1;

  constructor(store: Pick<ReplicaStore, 'replica'>, state: ReplicaState) {
    this.#store = store;
    this.#state = state;
  }

  /** Sets the position of the entry applied next. */
  moveTo(position: number): void {
    this.#position = position;
    this.#last = -1;
  }

  /** Marks the day of a bucket as changed. Fast for repeated days, because it is called for each row of a delta. */
  add(ref: number, bucket: number): void {
    this.addDay(ref, Math.floor(decodeMinute(bucket) / minutesPerDay));
  }

  addDay(ref: number, day: number): void {
    const place = Math.floor(ref / seriesPerEnvironment) * daysPerEnvironment + day;
    if (place === this.#last) return;
    this.#last = place;
    this.#changed.set(place, this.#position);
  }

  /**
   * Writes the changed days from memory to the table, in the transaction that applies the entries.
   * @param applied positions before and after these entries
   */
  put(applied: { readonly before: number; readonly after: number }): void {
    if ((this.#state.get('daysMarked') ?? 0) !== applied.before) this.#state.set('daysUnmarked', applied.before);
    this.#state.set('daysMarked', applied.after);
    this.#putDays();
  }

  /** Removes the stored positions of an environment's days before `before`. Call it in a transaction. */
  remove(environment: number, before = Number.POSITIVE_INFINITY): void {
    this.#putDays();
    const prefix = `${daysPrefix}${environment}`;
    const range = { start: Buffer.from(`${prefix}:`), end: Buffer.from(`${prefix};`) };
    const keys = Array.from(this.#store.replica.getKeys(range), (key) => Buffer.from(key));
    for (const key of keys) if (placeIn(key).day < before) this.#store.replica.removeSync(key);
  }

  forget(): void {
    this.#changed.clear();
    this.#last = -1;
  }

  #putDays(): void {
    for (const [place, position] of this.#changed) {
      const environment = Math.floor(place / daysPerEnvironment);
      const day = place % daysPerEnvironment;
      const key = Buffer.from(`${daysPrefix}${environment}:${day}`);
      this.#store.replica.putSync(key, Buffer.from(String(position)));
    }
    this.forget();
  }
}

export interface ChangedDay {
  readonly environment: number;
  /** Number of the day since the epoch. */
  readonly day: number;
  readonly position: number;
}

/** Yields the changed days, as a snapshot contains them. */
export function* changedDays(store: Pick<ReplicaStore, 'replica'>, at: Snapshot): Generator<ChangedDay> {
  const range = { start: Buffer.from(daysPrefix), end: Buffer.from('day;') };
  for (const { key, value } of store.replica.getRange({ ...range, ...readAt(at) }))
    yield { ...placeIn(key), position: Number(value.toString()) };
}

/** Number of possible days per environment, from 1970 to beyond the year 2300. */
const daysPerEnvironment = 2 ** 17;
const daysPrefix = 'day:';

function placeIn(key: Buffer): { readonly environment: number; readonly day: number } {
  const [, environment, day] = key.toString().split(':');
  return { environment: Number(environment), day: Number(day) };
}

const environmentKind = 'e';
const applicationKind = 'a';
const toDoKind = 't';

/**
 * Deleted environments and applications. Their numbers are kept permanently, to skip counts that streams ship later.
 *
 * `erased`: key: `e` and the number of an environment, or `a` and the number of an application (u32, big-endian); the
 * value is empty. The key of an unfinished deletion is `t` and its JSON.
 */
export class ErasedNumbers {
  readonly #store: ReplicaStore;
  readonly #environments = new Set<number>();
  readonly #applications = new Set<number>();

  constructor(store: ReplicaStore) {
    this.#store = store;
    this.forget();
  }

  hasEnvironment(number: number): boolean {
    return this.#environments.has(number);
  }

  hasApplication(number: number): boolean {
    return this.#applications.has(number);
  }

  /** Adds a deletion, which `step` carries out. Call it in a transaction. */
  add(things: ErasedThings): void {
    const { erased } = this.#store;
    for (const number of things.environments) {
      this.#environments.add(number);
      erased.putSync(erasedKey(environmentKind, number), nothing);
    }
    if (things.whole) {
      this.#applications.add(things.application);
      erased.putSync(erasedKey(applicationKind, things.application), nothing);
    }
    const { application, environments, whole } = things;
    erased.putSync(Buffer.from(toDoKind + JSON.stringify({ application, environments, whole })), nothing);
  }

  /** Erases some records. Call it in a transaction. @returns the number of records, 0 if nothing is left */
  step(limit: number): number {
    const range = { start: Buffer.from(toDoKind), end: Buffer.from('u'), limit: 1 };
    const [key] = Array.from(this.#store.erased.getKeys(range), (each) => Buffer.from(each));
    if (key === undefined) return 0;
    const things = JSON.parse(key.subarray(1).toString()) as Deletion;
    let touched = 0;
    const chores = [...erasures(this.#store, things), ...this.#timeChores(things)];
    for (const chore of chores) if (touched < limit) touched += chore(limit - touched);
    if (touched > 0) return touched;
    this.#store.erased.removeSync(key);
    return 1;
  }

  #timeChores({ application, environments }: Deletion): readonly Chore[] {
    return environments.map(
      (environment) => (room) => removeRememberedTimes(this.#store, application, environment, room),
    );
  }

  /** Reads the numbers again after a failed transaction. */
  forget(): void {
    this.#environments.clear();
    this.#applications.clear();
    for (const key of this.#store.erased.getKeys({ end: Buffer.from(toDoKind) })) {
      const numbers = key[0] === environmentKind.charCodeAt(0) ? this.#environments : this.#applications;
      numbers.add(key.readUInt32BE(1));
    }
  }
}

const nothing = Buffer.alloc(0);

function erasedKey(kind: string, number: number): Buffer {
  return Buffer.concat([Buffer.from(kind), prefixKey(number)]);
}

/**
 * Forgotten people. A person is listed as long as a stream can ship earlier counts of that person.
 *
 * `forgotten`: key: the digest of the identity (16, see `digestIdentity`). Value: the position (f64, little-endian) of
 * the entry that forgot the person.
 */
export class ForgottenPeople {
  readonly #store: ReplicaStore;
  readonly #state: ReplicaState;

  constructor(store: ReplicaStore, state: ReplicaState) {
    this.#store = store;
    this.#state = state;
  }

  /** Adds a person. Call it in a transaction. */
  add(digest: Uint8Array, position: number): void {
    const value = Buffer.allocUnsafe(8);
    value.writeDoubleLE(position, 0);
    this.#store.forgotten.putSync(Buffer.from(digest), value);
  }

  /** True if a person was forgotten after a position of the log. */
  has(digest: Uint8Array, since: number): boolean {
    const value = this.#store.forgotten.get(Buffer.from(digest));
    return value !== undefined && since < value.readDoubleLE(0);
  }

  /** True if all people who were forgotten after a position are still listed. */
  knows(since: number): boolean {
    return since >= (this.#state.get('forgottenUntil') ?? 0);
  }

  /** Removes people forgotten up to `since`, once all open deltas began there or later. Call it in a transaction. */
  end(since: number): void {
    const past = Array.from(this.#store.forgotten.getRange({}), ({ key, value }) => ({
      key: Buffer.from(key),
      position: value.readDoubleLE(0),
    })).filter(({ position }) => position <= since);
    for (const { key } of past) this.#store.forgotten.removeSync(key);
    // Stores the last removed position, not `since`, because a delta from between them cannot restore a person.
    const last = Math.max(0, ...past.map(({ position }) => position));
    if (this.knows(last)) this.#state.set('forgottenUntil', last);
  }
}

const identityBytes = 16;
const timeBytes = 6;

/**
 * The messages counted by any node. The first message in the order of the log counts. Other messages of the same
 * identity within its life (see `getMessageLife`), earlier or later, do not count. A message is forgotten once no
 * stream can ship another copy.
 *
 * `messageTimes`: key: identity (16), time (u48, Unix ms, big-endian); the value is empty. The table `messages` has the
 * same messages in the order of their times.
 */
export class CountedMessages {
  readonly #store: ReplicaStore;

  constructor(store: ReplicaStore) {
    this.#store = store;
  }

  /** Adds a message. Call it in a transaction. @returns true if it counts */
  add(message: Message): boolean {
    const { identity, at } = message;
    const life = getMessageLife(Buffer.from(identity).readUInt32BE(4));
    const from = at - life + 1;
    const to = at + life;
    const range = { start: messageTimeKey(identity, from), end: messageTimeKey(identity, to), limit: 1 };
    if (keysIn(this.#store.messageTimes, range).length > 0) return false;
    this.#store.messageTimes.putSync(messageTimeKey(identity, at), nothing);
    putMessage(this.#store, message);
    return true;
  }

  /**
   * Forgets messages, oldest first. Call it in a transaction.
   * @param through time (Unix ms, PostgreSQL's clock) before which all streams have shipped the packets that they
   * acknowledged
   * @returns the number of messages, at most `limit`
   */
  forget(through: number, limit: number): number {
    // The time of a message comes from the receiving node's clock, so it can be wrong by `maxSkewMs`.
    const taken = takeMessages(this.#store, through - messageLifeMs - maxSkewMs, limit);
    for (const { identity, at } of taken) this.#store.messageTimes.removeSync(messageTimeKey(identity, at));
    return taken.length;
  }
}

/** Removes the times of permanent messages of a deleted environment, in a transaction. @returns their number */
function removeRememberedTimes(
  { messageTimes }: Pick<ReplicaStore, 'messageTimes'>,
  application: number,
  environment: number,
  limit: number,
): number {
  const start = pairKey(application, environment);
  const end = pairKey(application, environment + 1);
  const times = Array.from(messageTimes.getKeys({ start, end }), (key) => Buffer.from(key))
    .filter((key) => key.readUIntBE(identityBytes, timeBytes) === permanentAt)
    .slice(0, limit);
  for (const key of times) messageTimes.removeSync(key);
  return times.length;
}

function messageTimeKey(identity: Uint8Array, at: number): Buffer {
  const key = Buffer.allocUnsafe(identityBytes + timeBytes);
  key.set(identity, 0);
  key.writeUIntBE(Math.min(2 ** 48 - 1, Math.max(0, Math.floor(at))), identityBytes, timeBytes);
  return key;
}

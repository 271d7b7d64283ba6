import { createHash } from 'node:crypto';
import type { KeyHolder } from '../accounts/key-index.ts';
import { Refusal } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { Batch } from '../storage/commit/batch.ts';
import type { Lane } from '../storage/commit/lane.ts';
import { type Digest, digestWords } from '../storage/commit/records.ts';
import type { SeriesDictionary, SeriesSink } from '../storage/commit/series-dictionary.ts';
import { briefWord, getMessageLife, type Message, messageLifeMs } from '../storage/lmdb/messages.ts';
import type { Environment } from '../storage/lmdb/records.ts';
import type { SenderSight } from '../storage/lmdb/senders.ts';
import type { NewSeries } from '../storage/lmdb/series.ts';
import type { AdmissionDeps } from './admission.ts';
import type { AttributedSource, Ledger } from './ledger/ledger.ts';
import type { Senders } from './senders.ts';

/**
 * Counts a message unless it repeats an earlier one. A message that might be a repetition is counted, and the ledger
 * notes it. Resolves when the message is on disk.
 * @param recognition `undefined` for a message that cannot be recognised; it is always counted
 * @param count adds the whole message to a batch before it returns
 * @throws {Refusal} if the message was not stored
 */
export function countOnce(
  { messages, ledger, clock, findLane }: CountingDeps,
  recognition: Recognition | undefined,
  place: AttributedSource,
  count: (batch: Batch) => void,
): Promise<void> {
  const { number } = place.application;
  if (recognition === undefined) return findLane(number).submit(number, count);
  const { identity, repeats } = recognition;
  const now = clock.now();
  const before = messages.find(identity, now);
  if (before === undefined) {
    return findLane(number).submit(number, (batch) => {
      const from = batch.extent;
      count(batch);
      // Other nodes skip counts that are bound to a known identity, so counts of an uncertain repetition are not bound.
      messages.add(identity, now, batch, repeats ? from : batch.extent);
    });
  }
  if (!repeats) {
    return findLane(number).submit(number, (batch) => {
      count(batch);
      ledger.noted(place, 'possible_repeat', batch);
    });
  }
  return before.then(() => {
    ledger.accepted(place);
    ledger.noted(place, 'repeated');
  });
}

export interface CountingDeps extends AdmissionDeps {
  readonly keys: KeyFinder;
  readonly dictionary: Pick<SeriesDictionary, 'of' | 'forget'>;
  readonly senders: Senders;
  readonly messages: SeenMessages;
  readonly ledger: Ledger;
  /** Returns the lane (a queue for the disk) through which all messages of an application go. */
  findLane(applicationNumber: number): Pick<Lane, 'submit' | 'addBefore'>;
}

/** Receives new names and senders. */
export type NameSink = SeriesSink & Pick<Batch, 'senders'>;

/** New names and senders of a message that is counted in steps. They are stored before the message. */
export class FoundNames implements NameSink {
  series: NewSeries[] = [];
  senders: SenderSight[] = [];
  folded = 0;
  dropped = 0;

  /** Adds new names and senders to the next batch, before the message, and even if the message is refused. */
  keep(addBefore: (fill: (batch: Batch) => void) => Promise<void>): void {
    const { series, senders } = this;
    if (series.length + senders.length === 0) return;
    this.series = [];
    this.senders = [];
    addBefore((batch) => {
      batch.series.push(...series);
      batch.senders.push(...senders);
    }).catch(() => {}); // After a rollback, the next batch includes the names and senders.
  }
}

export interface KeyFinder {
  findKey(text: string): KeyHolder | undefined;
  recordUse(holder: KeyHolder): void;
  recordLeak(holder: KeyHolder): void;
  recordRefusal(holder: KeyHolder, code: RefusalCode): void;
}

/**
 * 128 bits that are equal for two messages only if the second repeats the first. They are a hash of the content, not of
 * the bytes, so the transport and the order of fields and entries do not matter. The first words are the numbers of the
 * application and of the key, so messages with different keys never have the same identity. Identities are stored, so
 * every version must hash the same input: otherwise a repetition across an update counts twice.
 */
export type MessageIdentity = Digest;

export interface Recognition {
  readonly identity: MessageIdentity;
  /** True if an equal identity proves a repetition; false if another process could have sent the message. */
  readonly repeats: boolean;
}

export interface MessageSender {
  readonly holder: KeyHolder;
  readonly environment: Pick<Environment, 'number'>;
}

/** @param route for example `telemetry`. The same `Idempotency-Key` on two routes has two identities. */
export function identityOfKey(route: string, sender: MessageSender, key: string): MessageIdentity {
  const text = `${route} ${sender.environment.number} ${key}`;
  const [a, b] = digestWords(createHash('sha256').update(text).digest());
  return createIdentity(sender, a, b);
}

export function createIdentity({ holder: { application, key } }: MessageSender, a: number, b: number): MessageIdentity {
  return [application.number, key.number, a, b];
}

/** Returns the identity of a message's bytes. It is recognised only briefly, because other messages can share it. */
export function identityOfBytes({ holder: { application, key } }: MessageSender, bytes: Digest): MessageIdentity {
  return [application.number, briefWord(key.number), bytes[0], bytes[1]];
}

const keyPattern = /^[ -~]{1,255}$/;

/** Checks the value of an `Idempotency-Key` header, if sent. @throws {Refusal} `invalid_idempotency_key` */
export function checkIdempotencyKey(value: string | undefined): string | undefined {
  if (value === undefined || keyPattern.test(value)) return value;
  throw new Refusal('invalid_idempotency_key', 'Idempotency-Key must have 1 to 255 printable ASCII characters');
}

/** Maximum number of messages in memory (about 15 MB): 400 messages a second for ten minutes. */
export const maxSeenMessages = 2 ** 18;

/**
 * Fraction of an application's messages that are forgotten in one step when the application exceeds its share of the
 * memory.
 */
const forgottenShare = 1 / 64;

const kept = Promise.resolve();

/** Batch number of a message that is already on disk. */
const onDisk = 0;

interface CountedBatch {
  readonly batch: Batch;
  readonly number: number;
  readonly identities: MessageIdentity[];
}

/**
 * The messages of the last ten minutes, so that repetitions are not counted again. Messages without a unique identity
 * are included, because a call that is marked as a retry can repeat them. If the shared memory is full, applications
 * with more than an equal share forget their oldest messages, so no application displaces the messages of another. The
 * workers store messages in the transaction of their counts, and delete forgotten messages, so a restart changes
 * nothing.
 */
export class SeenMessages {
  readonly #limit: number;
  readonly #applications = new Map<number, ApplicationMessages>();
  #size = 0;
  /** Batches being committed. The queue limits their number. */
  readonly #byBatch = new Map<Batch, CountedBatch>();
  readonly #byNumber = new Map<number, CountedBatch>();
  #lastNumber = onDisk;

  /** @param known stored messages, oldest first @param limit maximum number of messages in memory */
  constructor(known: Iterable<Message> = [], limit = maxSeenMessages) {
    this.#limit = limit;
    for (const { identity, at } of known) this.#remember(digestWords(Buffer.from(identity)), at, onDisk);
  }

  /**
   * Finds an earlier message with this identity. The promise resolves when that message is on disk, and rejects if its
   * batch was rolled back.
   * @param now Unix ms
   */
  find(identity: MessageIdentity, now: number): Promise<void> | undefined {
    const own = this.#applications.get(identity[0]);
    const at = own?.find(identity, now - getMessageLife(identity[1])) ?? -1;
    return at < 0 ? undefined : (this.#byNumber.get(own!.batchAt(at))?.batch.durable ?? kept);
  }

  /**
   * Adds a message that a batch counts at `now` (Unix ms). If the batch is rolled back, the message is forgotten.
   * @param from extent of the batch before the counts of the message. Nodes that already know the identity skip the
   * counts after it.
   */
  add(identity: MessageIdentity, now: number, batch: Batch, from = batch.extent): void {
    const counted = this.#byBatch.get(batch) ?? this.#open(batch);
    counted.identities.push(identity);
    batch.messages.add(identity, now, from, batch.extent);
    this.#remember(identity, now, counted.number, batch);
  }

  forget(application: number): void {
    this.#size -= this.#applications.get(application)?.size ?? 0;
    this.#applications.delete(application);
  }

  #open(batch: Batch): CountedBatch {
    this.#lastNumber = (this.#lastNumber % 0xffff_ffff) + 1;
    const counted = { batch, number: this.#lastNumber, identities: [] };
    this.#byBatch.set(batch, counted);
    this.#byNumber.set(counted.number, counted);
    batch.durable.then(
      () => this.#close(counted),
      () => this.#revoke(counted),
    );
    return counted;
  }

  #close({ batch, number }: CountedBatch): void {
    this.#byBatch.delete(batch);
    this.#byNumber.delete(number);
  }

  #revoke(counted: CountedBatch): void {
    this.#close(counted);
    for (const each of counted.identities) this.#applications.get(each[0])?.revoke(each, counted.number);
  }

  #remember(identity: MessageIdentity, at: number, number: number, batch?: Batch): void {
    const own = this.#applications.get(identity[0]) ?? this.#openApplication(identity[0]);
    const before = own.size;
    own.expire(at - messageLifeMs);
    own.add(identity, at, number);
    this.#size += own.size - before;
    if (this.#size > this.#limit) this.#makeRoom(at, batch);
  }

  #openApplication(application: number): ApplicationMessages {
    const messages = new ApplicationMessages();
    this.#applications.set(application, messages);
    return messages;
  }

  /** @param batch deletes the forgotten messages on disk; without a batch, they stay on disk until they expire */
  #makeRoom(now: number, batch: Batch | undefined): void {
    const share = this.#limit / this.#applications.size;
    for (const [application, own] of this.#applications) {
      if (own.newest <= now - messageLifeMs) this.forget(application);
      else if (own.size > share) this.#forgetOldest(application, own, batch);
    }
  }

  #forgetOldest(application: number, own: ApplicationMessages, batch: Batch | undefined): void {
    const count = Math.ceil(own.size * forgottenShare);
    own.forget(count, (key, a, b, time) => batch?.messages.forget([application, key, a, b], time));
    this.#size -= count;
  }
}

const minRoom = 16;
/** Number of words per message: its identity without the application, and the number of its batch. */
const wordsPerMessage = 4;
/** Maximum number of slots probed for a message. Half of the slots are free, so only attackers reach this maximum. */
const maxProbes = 128;

/** Time that marks a removed message. */
const never = Number.NEGATIVE_INFINITY;

/**
 * Messages of one application in order of arrival. Numeric arrays hold them, because hundreds of thousands of strings
 * in a map would keep the garbage collector busy. Messages are appended at the end of the arrays, and dropped at the
 * start. When an array is full, the remaining messages are copied to new arrays. If all slots of a new message are
 * occupied, it replaces another message; only an attacker can cause this.
 */
export class ApplicationMessages {
  /** Unix ms of the newest message. */
  newest = never;
  #room = minRoom;
  #words = new Uint32Array(minRoom * wordsPerMessage);
  #times = new Float64Array(minRoom);
  /** Hash table: the position of a message plus one, by a word of its identity. A free slot is 0. */
  #slots = new Int32Array(minRoom * 2);
  #first = 0;
  #end = 0;

  get size(): number {
    return this.#end - this.#first;
  }

  /** Returns the position of a message counted after `since` (Unix ms); -1 if there is no match. */
  find(identity: MessageIdentity, since: number): number {
    const at = this.#slots[this.#findSlot(identity)]! - 1;
    return at >= this.#first && this.#holds(at, identity) && this.#times[at]! > since ? at : -1;
  }

  batchAt(at: number): number {
    return this.#words[at * wordsPerMessage + 3]!;
  }

  /** Adds a message that a batch has counted. */
  add(identity: MessageIdentity, time: number, batch: number): void {
    if (this.#end === this.#room) this.#move();
    const at = this.#end;
    this.#end += 1;
    const words = this.#words;
    const from = at * wordsPerMessage;
    words[from] = identity[1];
    words[from + 1] = identity[2];
    words[from + 2] = identity[3];
    words[from + 3] = batch;
    this.#times[at] = time;
    this.newest = Math.max(this.newest, time);
    this.#slots[this.#findSlot(identity)] = at + 1;
  }

  revoke(identity: MessageIdentity, batch: number): void {
    const at = this.find(identity, never);
    if (at >= 0 && this.batchAt(at) === batch) this.#times[at] = never;
  }

  expire(until: number): void {
    while (this.#first < this.#end && this.#times[this.#first]! <= until) this.#first += 1;
  }

  /** Removes the `count` oldest messages, and calls `forgotten` with each of them. */
  forget(count: number, forgotten: (key: number, a: number, b: number, time: number) => void): void {
    for (const end = Math.min(this.#end, this.#first + count); this.#first < end; this.#first += 1) {
      const at = this.#first * wordsPerMessage;
      const time = this.#times[this.#first]!;
      if (time !== never) forgotten(this.#words[at]!, this.#words[at + 1]!, this.#words[at + 2]!, time);
    }
  }

  #findSlot(identity: MessageIdentity): number {
    const start = identity[2] ^ identity[1];
    const last = this.#slots.length - 1;
    for (let probe = 0; probe < maxProbes; probe += 1) {
      const slot = (start + probe) & last;
      const at = this.#slots[slot]! - 1;
      if (at < 0 || this.#holds(at, identity)) return slot;
    }
    return start & last;
  }

  #holds(at: number, identity: MessageIdentity): boolean {
    const words = this.#words;
    const from = at * wordsPerMessage;
    return words[from] === identity[1] && words[from + 1] === identity[2] && words[from + 2] === identity[3];
  }

  /** Copies the remaining messages to arrays of twice their size. */
  #move(): void {
    const words = this.#words;
    const first = this.#first;
    const { size } = this;
    const times = this.#times.subarray(first, this.#end);
    while (this.#room >= minRoom * 2 && this.#room > size * 4) this.#room /= 2;
    while (this.#room < size * 2) this.#room *= 2;
    this.#words = new Uint32Array(this.#room * wordsPerMessage);
    this.#words.set(words.subarray(first * wordsPerMessage, this.#end * wordsPerMessage));
    this.#times = new Float64Array(this.#room);
    this.#times.set(times);
    this.#slots = new Int32Array(this.#room * 2);
    this.#first = 0;
    this.#end = size;
    for (let at = 0; at < size; at += 1) this.#slots[this.#slotAt(at)] = at + 1;
  }

  #slotAt(at: number): number {
    const words = this.#words;
    const from = at * wordsPerMessage;
    return this.#findSlot([0, words[from]!, words[from + 1]!, words[from + 2]!]);
  }
}

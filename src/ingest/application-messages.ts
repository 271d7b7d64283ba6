import type { MessageIdentity } from './message-identity.ts';

const minRoom = 16;
/** A message takes four words: its identity without the application, and the number of the batch that counted it. */
const wordsPerMessage = 4;
/** Slots that are searched for a message. At most half of all are taken, so only an attacker fills so many in a row. */
const maxProbes = 128;

/** The time of a message that was not kept. */
const never = Number.NEGATIVE_INFINITY;

/**
 * The messages of one application in order of arrival. They are in arrays of numbers, because hundreds of thousands of
 * strings in a map would keep the garbage collector busy. New messages are added at the end, old ones are dropped at the
 * start, and the rest moves to fresh arrays when the end is reached. When an attacker has filled all slots that a message
 * could take, a new message replaces another one.
 */
export class ApplicationMessages {
  /** Unix ms of the message that came last; nothing is newer. */
  newest = never;
  #room = minRoom;
  #words = new Uint32Array(minRoom * wordsPerMessage);
  #times = new Float64Array(minRoom);
  /** A hash table: the position of a message plus one, by a word of its identity; 0 is a free slot. */
  #slots = new Int32Array(minRoom * 2);
  #first = 0;
  #end = 0;

  /** Messages that take room. */
  get size(): number {
    return this.#end - this.#first;
  }

  /** The position of a message that was counted after `since` (Unix ms), or -1. */
  find(identity: MessageIdentity, since: number): number {
    const at = this.#slots[this.#slotOf(identity)]! - 1;
    return at >= this.#first && this.#holds(at, identity) && this.#times[at]! > since ? at : -1;
  }

  /** The number of the batch that counted the message at a position. */
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
    this.#slots[this.#slotOf(identity)] = at + 1;
  }

  /** Forgets a message whose batch was not kept. */
  revoke(identity: MessageIdentity, batch: number): void {
    const at = this.find(identity, never);
    if (at >= 0 && this.batchAt(at) === batch) this.#times[at] = never;
  }

  /** Forgets what was counted at `until` (Unix ms) or before. */
  expire(until: number): void {
    while (this.#first < this.#end && this.#times[this.#first]! <= until) this.#first += 1;
  }

  /** Forgets the oldest, and calls back with each that was forgotten. */
  forget(count: number, forgotten: (key: number, a: number, b: number, time: number) => void): void {
    for (const end = Math.min(this.#end, this.#first + count); this.#first < end; this.#first += 1) {
      const at = this.#first * wordsPerMessage;
      const time = this.#times[this.#first]!;
      if (time !== never) forgotten(this.#words[at]!, this.#words[at + 1]!, this.#words[at + 2]!, time);
    }
  }

  /** The slot of a message, or the one that it would take. */
  #slotOf(identity: MessageIdentity): number {
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

  /** Moves the remaining messages to arrays with twice their room. */
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
    return this.#slotOf([0, words[from]!, words[from + 1]!, words[from + 2]!]);
  }
}

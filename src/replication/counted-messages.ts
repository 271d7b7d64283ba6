import { keysIn, pairKey } from '../storage/lmdb/key-prefix.ts';
import {
  lifeOf,
  type Message,
  messageLifeMs,
  permanentAt,
  putMessage,
  takeMessages,
} from '../storage/lmdb/messages.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { maxSkewMs } from './postgres/shared-clock.ts';

const identityBytes = 16;
const timeBytes = 6;

/**
 * The messages counted by any node. The first in the order of the log counts. Others of the same identity within its life (see
 * `lifeOf`), earlier or later, do not. A message is forgotten once no stream can ship another copy.
 *
 * `messageTimes`: key: identity (16), time (u48, Unix ms, big-endian); the value is empty. The table `messages` orders them by time.
 */
export class CountedMessages {
  readonly #store: ReplicaStore;

  constructor(store: ReplicaStore) {
    this.#store = store;
  }

  /** Adds a message, and returns whether it counts. Call it in a transaction. */
  add(message: Message): boolean {
    const { identity, at } = message;
    const life = lifeOf(Buffer.from(identity).readUInt32BE(4));
    const from = at - life + 1;
    const to = at + life;
    const range = { start: keyOf(identity, from), end: keyOf(identity, to), limit: 1 };
    if (keysIn(this.#store.messageTimes, range).length > 0) return false;
    this.#store.messageTimes.putSync(keyOf(identity, at), nothing);
    putMessage(this.#store, message);
    return true;
  }

  /**
   * Forgets messages, oldest first. Call it in a transaction.
   * @param through all streams have shipped what they acknowledged before this time (PostgreSQL's clock, Unix ms)
   * @returns the number of messages, at most `limit`
   */
  forget(through: number, limit: number): number {
    // The time of a message is that of its node's clock.
    const taken = takeMessages(this.#store, through - messageLifeMs - maxSkewMs, limit);
    for (const { identity, at } of taken) this.#store.messageTimes.removeSync(keyOf(identity, at));
    return taken.length;
  }
}

/** Removes the times of the permanent messages of a deleted environment. Call it in a transaction. @returns times removed */
export function removeRememberedTimes(
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

const nothing = Buffer.alloc(0);

function keyOf(identity: Uint8Array, at: number): Buffer {
  const key = Buffer.allocUnsafe(identityBytes + timeBytes);
  key.set(identity, 0);
  key.writeUIntBE(Math.min(2 ** 48 - 1, Math.max(0, Math.floor(at))), identityBytes, timeBytes);
  return key;
}

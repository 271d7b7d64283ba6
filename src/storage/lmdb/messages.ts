import { keysIn, pairKey, removeRange } from './key-prefix.ts';
import type { UsageTables } from './usage.ts';

/**
 * A counted message, stored so that a repetition is not counted again. Key: time (u48, Unix ms, big-endian), identity
 * (16 bytes). The value is empty. Keys sort by time, so expired messages come first.
 */
export interface Message {
  readonly identity: Uint8Array;
  /** Unix ms. */
  readonly at: number;
}

export interface MessageChange extends Message {
  readonly forgotten?: true;
}

/** Period in which a repetition of a message is recognised, ms. */
export const messageLifeMs = 10 * 60_000;

/**
 * Period in which a repetition is recognised if different messages can have the same content, ms. The next constant
 * marks such messages: a bit in the second word of their identity.
 */
const briefLifeMs = 30_000;
const briefBit = 2 ** 31;

/** Marks the second word of an identity, so that repetitions are recognised only briefly. */
export function briefWord(word: number): number {
  return (word | briefBit) >>> 0;
}

/** The period in which a repetition of a message is recognised, by the second word of its identity. */
export function getMessageLife(word: number): number {
  return word >= briefBit ? briefLifeMs : messageLifeMs;
}

/**
 * The time of messages that are parts of imported files. It is in the distant future, so that no node ever forgets
 * these messages. Their identities begin with the numbers of application and environment.
 */
export const permanentAt = 2 ** 47;

const timeBytes = 6;
const identityBytes = 16;

/**
 * Puts messages and deletes the forgotten messages. Also deletes expired messages, by the time of the latest message:
 * more than it puts, so that the table stays small, but a limited number, because the commit waits. Call this in the
 * transaction that counts the messages.
 */
export function putMessages(store: UsageTables, messages: readonly MessageChange[]): void {
  if (messages.length === 0) return;
  let latest = 0;
  for (const { at, identity, forgotten } of messages) {
    if (at < permanentAt) latest = Math.max(latest, at);
    if (forgotten) store.messages.removeSync(messageKey(at, identity));
    else putMessage(store, { at, identity });
  }
  const expired = { end: timeKey(latest - messageLifeMs), limit: 64 + 2 * messages.length };
  for (const { key } of [...store.messages.getRange(expired)]) store.messages.removeSync(key);
}

export function putMessage(store: Pick<UsageTables, 'messages'>, { at, identity }: Message): void {
  store.messages.putSync(messageKey(at, identity), nothing);
}

/** Deletes messages from before a time (Unix ms), the oldest first, in a transaction. @returns these messages */
export function takeMessages(store: Pick<UsageTables, 'messages'>, before: number, limit: number): Message[] {
  const taken: Message[] = [];
  for (const key of keysIn(store.messages, { start: timeKey(0), end: timeKey(before), limit })) {
    taken.push(messageIn(key));
    store.messages.removeSync(key);
  }
  return taken;
}

const nothing = Buffer.alloc(0);

export function isRemembered(store: Pick<UsageTables, 'messages'>, identity: Uint8Array): boolean {
  return store.messages.doesExist(messageKey(permanentAt, identity));
}

/** Removes the permanent messages of a deleted environment, in a transaction. @returns the number of messages */
export function removeRemembered(
  { messages }: Pick<UsageTables, 'messages'>,
  application: number,
  environment: number,
  limit: number,
): number {
  const from = (number: number) => Buffer.concat([timeKey(permanentAt), pairKey(application, number)]);
  return removeRange(messages, { start: from(environment), end: from(environment + 1), limit });
}

/** The last `limit` messages that are not older than `since` (Unix ms), oldest first, without permanent messages. */
export function messagesSince(store: Pick<UsageTables, 'messages'>, since: number, limit: number): Message[] {
  const range = { start: timeKey(permanentAt), end: timeKey(since), reverse: true, limit } as const;
  return Array.from(store.messages.getKeys(range), messageIn).reverse();
}

/** All messages, oldest first, followed by the permanent messages. */
export function allMessages(store: Pick<UsageTables, 'messages'>): Message[] {
  return Array.from(store.messages.getKeys(), messageIn);
}

function messageIn(key: Buffer): Message {
  return { at: key.readUIntBE(0, timeBytes), identity: Uint8Array.from(key.subarray(timeBytes)) };
}

export function messageKey(at: number, identity: Uint8Array): Buffer {
  const key = Buffer.alloc(timeBytes + identityBytes);
  key.writeUIntBE(wholeMs(at), 0, timeBytes);
  key.set(identity, timeBytes);
  return key;
}

/** The first key at or after a time. */
function timeKey(at: number): Buffer {
  const key = Buffer.alloc(timeBytes);
  key.writeUIntBE(wholeMs(at), 0, timeBytes);
  return key;
}

/** Converts a time to the whole milliseconds that keys contain. */
export function wholeMs(at: number): number {
  return Math.max(0, Math.floor(at));
}

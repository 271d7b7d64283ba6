import { keysIn } from './key-prefix.ts';
import type { UsageTables } from './usage.ts';

/**
 * A counted message, so that a repetition is not counted again. Key: time (u48, Unix ms, big-endian), identity (16 bytes). The
 * value is empty. Keys sort by time, so expired messages come first.
 */
export interface Message {
  readonly identity: Uint8Array;
  /** Unix ms. */
  readonly at: number;
}

export interface MessageChange extends Message {
  readonly forgotten?: true;
}

/** Period in which a repetition is recognised. */
export const messageLifeMs = 10 * 60_000;

const timeBytes = 6;
const identityBytes = 16;

/**
 * Puts messages, deletes the forgotten ones, and deletes some that have expired by the time of the latest. More are deleted than
 * put, so that the table stays small, but a bounded number, because the commit waits. Call it in the transaction that counts
 * the messages.
 */
export function putMessages(store: UsageTables, messages: readonly MessageChange[]): void {
  if (messages.length === 0) return;
  for (const { at, identity, forgotten } of messages) {
    if (forgotten) store.messages.removeSync(messageKey(at, identity));
    else putMessage(store, { at, identity });
  }
  const latest = messages.reduce((last, { at }) => Math.max(last, at), 0);
  const expired = { end: timeKey(latest - messageLifeMs), limit: 64 + 2 * messages.length };
  for (const { key } of [...store.messages.getRange(expired)]) store.messages.removeSync(key);
}

/** Puts one message. */
export function putMessage(store: Pick<UsageTables, 'messages'>, { at, identity }: Message): void {
  store.messages.putSync(messageKey(at, identity), nothing);
}

/** Deletes messages from before a time (Unix ms), the oldest first. Call it in a transaction. @returns the deleted */
export function takeMessages(store: Pick<UsageTables, 'messages'>, before: number, limit: number): Message[] {
  const taken: Message[] = [];
  for (const key of keysIn(store.messages, { start: timeKey(0), end: timeKey(before), limit })) {
    taken.push({ at: key.readUIntBE(0, timeBytes), identity: key.subarray(timeBytes) });
    store.messages.removeSync(key);
  }
  return taken;
}

const nothing = Buffer.alloc(0);

/** The last `limit` messages from `since` (Unix ms) on, oldest first. */
export function messagesSince(store: Pick<UsageTables, 'messages'>, since: number, limit: number): Message[] {
  const range = { end: timeKey(since), reverse: true, limit } as const;
  return Array.from(store.messages.getRange(range), ({ key }) => ({
    at: key.readUIntBE(0, timeBytes),
    identity: Uint8Array.from(key.subarray(timeBytes)),
  })).reverse();
}

/** The key of a message. */
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

function wholeMs(at: number): number {
  return Math.max(0, Math.floor(at));
}

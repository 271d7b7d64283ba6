import { expect, test } from 'vitest';
import {
  isRemembered,
  type Message,
  type MessageChange,
  messageLifeMs,
  messagesSince,
  permanentAt,
  putMessages,
  removeRemembered,
} from '../../../src/storage/lmdb/messages.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const message = (n: number, at: number): Message => ({ identity: new Uint8Array(16).fill(n), at });

test('messages are read in order of time, even after a restart', async () => {
  const data = temporaryDirectory();
  const first = openUsageTables(data);
  const messages = [message(1, 3000), message(2, 1000), message(255, 2000), message(0, 2000)];
  first.lmdb.transactionSync(() => putMessages(first, messages));
  await first.lmdb.close();

  const store = openUsageTables(data);
  const ordered = [message(2, 1000), message(0, 2000), message(255, 2000), message(1, 3000)];
  expect(messagesSince(store, 0, 10)).toEqual(ordered);
  expect(messagesSince(store, 2000, 10)).toEqual(ordered.slice(1));
  expect(messagesSince(store, 2001, 10)).toEqual(ordered.slice(3));
  expect(messagesSince(store, 0, 2)).toEqual(ordered.slice(2));
  expect(messagesSince(store, -5, 1)).toEqual(ordered.slice(3));
  await store.lmdb.close();
});

test('deleting a forgotten message keeps other messages with the same time', async () => {
  const store = temporaryUsage();
  const put = (...messages: MessageChange[]) => store.lmdb.transactionSync(() => putMessages(store, messages));
  put(message(1, 1000), message(2, 1000), message(1, 2000));
  put({ ...message(1, 1000), forgotten: true }, message(3, 3000));
  expect(messagesSince(store, 0, 10)).toEqual([message(2, 1000), message(1, 2000), message(3, 3000)]);
});

test('each commit deletes some expired messages', async () => {
  const store = temporaryUsage();
  const put = (...messages: MessageChange[]) => store.lmdb.transactionSync(() => putMessages(store, messages));
  put(...Array.from({ length: 100 }, (_, n) => message(n, n)));
  expect(messagesSince(store, 0, 1000)).toHaveLength(100);
  put(message(200, messageLifeMs + 50));
  expect(messagesSince(store, 0, 1000)).toHaveLength(51);
  put(message(201, messageLifeMs + 1000));
  expect(messagesSince(store, 0, 1000)).toEqual([message(200, messageLifeMs + 50), message(201, messageLifeMs + 1000)]);
  put(...Array.from({ length: 300 }, (_, n) => message(n % 200, 2 * messageLifeMs + n)));
  put(message(1, 5 * messageLifeMs));
  expect(messagesSince(store, 0, 1000)).toHaveLength(302 - 66);
});

test('a permanent message makes no other message expire, and never expires itself', async () => {
  const store = temporaryUsage();
  const put = (...messages: MessageChange[]) => store.lmdb.transactionSync(() => putMessages(store, messages));
  const permanent = message(5, permanentAt);
  put(message(1, 1000), permanent);
  put(message(2, 2000));
  expect(messagesSince(store, 0, 10)).toEqual([message(1, 1000), message(2, 2000)]);
  put(message(3, 5 * messageLifeMs));
  expect(messagesSince(store, 0, 10)).toEqual([message(3, 5 * messageLifeMs)]);
  expect(isRemembered(store, permanent.identity)).toBe(true);
  expect(isRemembered(store, message(3, 0).identity)).toBe(false);
});

test('permanent messages are removed with their environment', async () => {
  const store = temporaryUsage();
  const of = (application: number, environment: number) => {
    const identity = Buffer.alloc(16, 9);
    identity.writeUInt32BE(application, 0);
    identity.writeUInt32BE(environment, 4);
    return { identity, at: permanentAt };
  };
  const all = [of(1, 1), of(1, 2), of(1, 3), of(2, 2)];
  store.lmdb.transactionSync(() => putMessages(store, all));
  expect(store.lmdb.transactionSync(() => removeRemembered(store, 1, 2, 10))).toBe(1);
  expect(all.map(({ identity }) => isRemembered(store, identity))).toEqual([true, false, true, true]);
});

import { expect, test } from 'vitest';
import { SeenMessages } from '../../src/ingest/count-once.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { messageChanges } from '../../src/storage/commit/records.ts';
import { briefWord } from '../../src/storage/lmdb/messages.ts';

const words = (n: number) => [n, 0x74f5f6f7, 0xf8f9fafb, 0xfcfdfeff] as const;

/** Returns the identity of message `n` as it is stored on disk. */
function stored(n: number): Buffer {
  const bytes = Buffer.alloc(16);
  for (const [at, word] of words(n).entries()) bytes.writeUInt32BE(word, at * 4);
  return bytes;
}

const minute = 60_000;

/** Returns functions that send messages, and the batches that counted the messages. */
function open(known: { identity: Uint8Array; at: number }[] = [], limit?: number) {
  const seen = new SeenMessages(known, limit);
  const batches: Batch[] = [];
  const send = (n: number, now: number) => {
    const before = seen.find(words(n), now);
    if (before !== undefined) return before;
    const batch = new Batch();
    batches.push(batch);
    seen.add(words(n), now, batch);
    return batch.durable;
  };
  const keep = async (n: number, now: number) => {
    const sent = send(n, now);
    batches.at(-1)!.settle.kept();
    await sent;
  };
  return { send, keep, batches };
}

test('a message that is repeated within ten minutes is counted once', async () => {
  const { send, keep, batches } = open();
  await keep(1, 0);
  await send(1, 10 * minute - 1);
  expect(batches).toHaveLength(1);
  await keep(1, 10 * minute);
  expect(batches).toHaveLength(2);
  expect(batches.map((batch) => messageChanges(batch.seal()))).toMatchObject([
    [{ at: 0, identity: stored(1) }],
    [{ at: 10 * minute, identity: stored(1) }],
  ]);
});

test('a message with a brief recognition period counts again after 30 seconds', async () => {
  const seen = new SeenMessages();
  const identity = [1, briefWord(2), 3, 4] as const;
  const batch = new Batch();
  seen.add(identity, 0, batch);
  batch.settle.kept();
  await batch.durable;
  expect([seen.find(identity, 29_999), seen.find(identity, 30_000)]).toEqual([expect.anything(), undefined]);
});

test('a repetition of a message in flight waits for the same commit', async () => {
  const { send, batches } = open();
  const ended: string[] = [];
  const both = [send(1, 0).then(() => ended.push('first')), send(1, 1).then(() => ended.push('second'))];
  expect(batches).toHaveLength(1);
  await Promise.resolve();
  expect(ended).toEqual([]);
  batches[0]?.settle.kept();
  await Promise.all(both);
  expect(ended).toEqual(['first', 'second']);
});

test('a repetition fails if the commit of the message fails, and the message can be sent again', async () => {
  const { send, keep, batches } = open();
  const both = [send(1, 0), send(1, 1)].map((sent) => expect(sent).rejects.toThrow('the disk'));
  batches[0]?.settle.refused(new Error('the disk'));
  await Promise.all(both);
  await keep(1, 2);
  expect(batches).toHaveLength(2);
});

test('a repetition of a message that is stored on disk is recognised', async () => {
  const { send, keep, batches } = open([{ identity: stored(1), at: 0 }]);
  await send(1, minute);
  expect(batches).toHaveLength(0);
  await keep(2, minute);
  expect(batches).toHaveLength(1);
});

function changesIn(batch: Batch): { counted: number[]; forgotten: number[] } {
  const changes = messageChanges(batch.seal());
  const of = (wanted: boolean) =>
    changes
      .filter(({ forgotten = false }) => forgotten === wanted)
      .map(({ identity }) => Buffer.from(identity).readUInt32BE(8) - first);
  return { counted: of(false), forgotten: of(true) };
}

const first = 0xf0000000;

/** Creates the `n`th message of an application. */
const createMessage = (application: number, n: number) => [application, 1, first + n, 9] as const;

test('the oldest messages over the limit are forgotten in memory and on disk', () => {
  const seen = new SeenMessages([], 2);
  const batch = new Batch();
  for (const n of [1, 2, 3]) seen.add(createMessage(1, n), n, batch);
  expect([1, 2, 3].map((n) => seen.find(createMessage(1, n), 4) !== undefined)).toEqual([false, true, true]);
  expect(changesIn(batch)).toEqual({ counted: [1, 2, 3], forgotten: [1] });
});

test('an application that sends very many messages does not evict messages of another application', () => {
  const seen = new SeenMessages([], 1000);
  const batch = new Batch();
  const quiet = Array.from({ length: 20 }, (_, at) => at + 2);
  for (const application of quiet) {
    for (let n = 0; n < 40; n += 1) seen.add(createMessage(application, n), 0, batch);
  }
  for (let n = 0; n < 20_000; n += 1) seen.add(createMessage(1, n), 1 + n / 1000, batch);
  for (const application of quiet) {
    for (let n = 0; n < 40; n += 1) expect(seen.find(createMessage(application, n), 30)).toBeDefined();
  }
  const own = Array.from({ length: 20_000 }, (_, n) => n).filter(
    (n) => seen.find(createMessage(1, n), 30) !== undefined,
  );
  expect(own.length).toBeGreaterThan(100);
  expect(own.length).toBeLessThanOrEqual(200);
  expect(own.at(-1)).toBe(19_999);
});

test('expired messages are removed before valid messages are forgotten', () => {
  const seen = new SeenMessages([], 100);
  const batch = new Batch();
  for (let n = 0; n < 90; n += 1) seen.add(createMessage(1, n), 0, batch);
  for (let n = 0; n < 90; n += 1) seen.add(createMessage(2, n), 10 * minute, batch);
  expect(changesIn(batch).forgotten).toEqual([]);
  for (let n = 0; n < 90; n += 1) expect(seen.find(createMessage(2, n), 11 * minute)).toBeDefined();
});

test('messages of a deleted application are forgotten', () => {
  const seen = new SeenMessages();
  for (const application of [1, 2]) seen.add(createMessage(application, 1), 0, new Batch());
  seen.forget(1);
  expect([1, 2].map((application) => seen.find(createMessage(application, 1), 1) !== undefined)).toEqual([false, true]);
});

test('messages of a failed batch are forgotten', async () => {
  const seen = new SeenMessages();
  const first = new Batch();
  const second = new Batch();
  for (const n of [1, 2, 3]) seen.add(words(n), n, n === 3 ? second : first);
  expect(seen.find(words(3), 4)).toBe(second.durable);
  first.settle.refused(new Error('the disk'));
  second.settle.kept();
  await second.durable;
  expect([1, 2].map((n) => seen.find(words(n), 5))).toEqual([undefined, undefined]);
  await expect(seen.find(words(3), 5)).resolves.toBeUndefined();
});

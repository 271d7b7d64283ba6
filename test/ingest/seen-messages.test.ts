import { expect, test } from 'vitest';
import { Batch } from '../../src/ingest/batch.ts';
import { SeenMessages } from '../../src/ingest/seen-messages.ts';

const words = (n: number) => [n, 0xf4f5f6f7, 0xf8f9fafb, 0xfcfdfeff] as const;

/** The same as it is on disk. */
function stored(n: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  for (const [at, word] of words(n).entries()) bytes.writeUInt32BE(word, at * 4);
  return bytes;
}

const minute = 60_000;

/** Sends messages and keeps the batches that they were counted in. */
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

test('a message is counted once in ten minutes', async () => {
  const { send, keep, batches } = open();
  await keep(1, 0);
  await send(1, 10 * minute - 1);
  expect(batches).toHaveLength(1);
  await keep(1, 10 * minute);
  expect(batches).toHaveLength(2);
  const messages = batches
    .map((batch) => batch.envelope([]))
    .map(({ messages: array, messageRecords }) => ({
      records: messageRecords,
      first: [...array.subarray(0, 5)],
    }));
  expect(messages).toEqual([
    { records: 1, first: [0, ...words(1)] },
    { records: 1, first: [10 * minute, ...words(1)] },
  ]);
});

test('a repetition of one that is on its way waits for the same commit', async () => {
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

test('it fails with it too, and then the message may be sent again', async () => {
  const { send, keep, batches } = open();
  const both = [send(1, 0), send(1, 1)].map((sent) => expect(sent).rejects.toThrow('the disk'));
  batches[0]?.settle.refused(new Error('the disk'));
  await Promise.all(both);
  await keep(1, 2);
  expect(batches).toHaveLength(2);
});

test('what was on disk has been seen', async () => {
  const { send, keep, batches } = open([{ identity: stored(1), at: 0 }]);
  await send(1, minute);
  expect(batches).toHaveLength(0);
  await keep(2, minute);
  expect(batches).toHaveLength(1);
});

test('of more than the limit the oldest are forgotten', async () => {
  const { send, keep, batches } = open([], 2);
  for (const n of [1, 2, 3]) await keep(n, n);
  await send(2, 4);
  await send(3, 4);
  expect(batches).toHaveLength(3);
  await keep(1, 5);
  expect(batches).toHaveLength(4);
});

test('a batch that was not kept has none of its messages', async () => {
  const seen = new SeenMessages();
  const [first, second] = [new Batch(), new Batch()];
  for (const n of [1, 2, 3]) seen.add(words(n), n, n === 3 ? second : first);
  expect(seen.find(words(3), 4)).toBe(second.durable);
  first.settle.refused(new Error('the disk'));
  second.settle.kept();
  await second.durable;
  expect([1, 2].map((n) => seen.find(words(n), 5))).toEqual([undefined, undefined]);
  await expect(seen.find(words(3), 5)).resolves.toBeUndefined();
});

import { expect, test } from 'vitest';
import { Refusal } from '../../../src/contract/errors.ts';
import { ExportQueue, type ExportThread } from '../../../src/reports/exports/export-queue.ts';
import { placeOfChunk } from '../../../src/reports/exports/rows.ts';
import { FairQueue } from '../../../src/runtime/fair-queue.ts';

const begin = { name: 'usage', task: {}, format: 'csv' } as const;

/** Opens a queue for a simulated thread whose exports have `chunks` chunks. The only byte of a chunk is its number. */
function open(chunks: number, limits?: { idleMs: number; wholeMs: number }, fails?: number) {
  const read = new Map<number, number>();
  const memories = new Map<number, SharedArrayBuffer>();
  const stopped: number[] = [];
  const thread: ExportThread = {
    async chunk({ id, begin }) {
      const at = read.get(id) ?? 0;
      if (begin !== undefined) memories.set(id, begin.memory);
      if (at === fails) throw new Refusal('store_unavailable', 'It failed');
      read.set(id, at + 1);
      placeOfChunk(memories.get(id)!, at)[0] = at;
      return { length: 1, isLast: at + 1 === chunks };
    },
    stop: async (id) => stopped.push(id),
  };
  const bounds = { atOnce: 2, waitingEach: 1, waitingAll: 2, refusals: { each: 'each', all: 'all' } };
  return { queue: new ExportQueue(new FairQueue(bounds), thread, limits), read, stopped };
}

test('an export returns its chunks in order, reads one chunk ahead, and releases the team slot at its end', async () => {
  const { queue, read, stopped } = open(3);
  const one = await queue.begin('team', begin);
  const second = queue.begin('team', begin);
  expect(read).toEqual(new Map([[1, 1]]));
  expect(await one.next()).toEqual(Uint8Array.of(0));
  expect(read.get(1)).toBe(2);
  expect(await one.next()).toEqual(Uint8Array.of(1));
  expect(await one.next()).toEqual(Uint8Array.of(2));
  expect(await one.next()).toBeUndefined();
  expect(read.has(2)).toBe(false);
  one.stop();
  expect(await (await second).next()).toEqual(Uint8Array.of(0));
  expect(stopped).toEqual([]);
});

test('a client that disconnects cancels its export once, and releases the slot of its team', async () => {
  const { queue, stopped } = open(9);
  const one = await queue.begin('team', begin);
  await one.next();
  one.stop();
  one.stop();
  await queue.begin('team', begin);
  expect(stopped).toEqual([1]);
});

test('the queue rejects an export if its team already has too many waiting exports', async () => {
  const { queue } = open(9);
  await queue.begin('team', begin);
  void queue.begin('team', begin).catch(() => {});
  await expect(queue.begin('team', begin)).rejects.toMatchObject({ code: 'rate_limited' });
});

test('a failure of the first chunk rejects the export, and a failure of a later chunk aborts the body', async () => {
  await expect(open(9, undefined, 0).queue.begin('team', begin)).rejects.toThrow('It failed');
  const one = await open(9, undefined, 1).queue.begin('team', begin);
  await one.next();
  await expect(one.next()).rejects.toThrow('It failed');
});

test.each([
  ['its client reads nothing', { idleMs: 1, wholeMs: 60_000 }, 'The client read nothing'],
  ['it takes too long', { idleMs: 60_000, wholeMs: 1 }, 'The export took too long'],
])('an export is aborted if %s', async (_, limits, why) => {
  const { queue } = open(9, limits);
  const one = await queue.begin('team', begin);
  // The next export gets the slot when the time limit has ended the first export.
  await queue.begin('team', begin);
  await expect(one.next()).rejects.toThrow(why);
});

test('stopping the service aborts the exports in progress', async () => {
  const { queue } = open(9);
  const one = await queue.begin('team', begin);
  queue.close();
  await expect(one.next()).rejects.toMatchObject({ code: 'store_unavailable' });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApplicationMessages } from '../../src/ingest/count-once.ts';
import type { Digest } from '../../src/storage/commit/records.ts';

const word = fc.oneof(fc.nat(3), fc.constantFrom(1023, 2047, 0xffffffff));
const identity = fc.tuple(fc.constant(1), word, word, word);

test('the message table finds every added message that is neither expired nor forgotten', () => {
  const added = fc.array(identity, { maxLength: 200 });
  fc.assert(
    fc.property(added, fc.nat(100), fc.nat(100), (messages, expired, forgotten) => {
      const table = new ApplicationMessages();
      const model = new Map<string, number>();
      for (const [time, each] of messages.entries()) {
        table.add(each, time, time + 1);
        model.set(each.join(), time);
        expect(table.batchAt(table.find(each, -1))).toBe(time + 1);
      }
      table.expire(expired - 1);
      const told: number[] = [];
      table.forget(forgotten, (_key, _a, _b, time) => told.push(time));
      const least = Math.min(messages.length, expired + forgotten);
      expect(told).toEqual(messages.map((_, time) => time).slice(expired, least));
      expect(table.size).toBe(messages.length - least);
      for (const each of messages) {
        expect(table.find(each, -1) >= 0).toBe(model.get(each.join())! >= least);
      }
    }),
  );
});

test('the message table keeps the latest messages when the table grows, and when old messages are forgotten', () => {
  const table = new ApplicationMessages();
  const all = Array.from({ length: 50_000 }, (_, n): Digest => [1, 1, Math.imul(n, 0x9e3779b1) >>> 0, n]);
  for (const [time, each] of all.entries()) {
    table.add(each, time, 0);
    if (table.size > 10_000) table.forget(100, () => {});
  }
  expect(table.size).toBeGreaterThan(9_900);
  const kept = all.slice(-table.size);
  expect(kept.every((each) => table.find(each, -1) >= 0)).toBe(true);
  expect(all.slice(0, -table.size).some((each) => table.find(each, -1) >= 0)).toBe(false);
});

test('a message of a failed batch is found only if a later batch has counted the message', () => {
  const table = new ApplicationMessages();
  table.add([1, 1, 1, 1], 5, 7);
  table.revoke([1, 1, 1, 1], 6);
  expect(table.find([1, 1, 1, 1], 0)).toBe(0);
  table.revoke([1, 1, 1, 1], 7);
  expect(table.find([1, 1, 1, 1], 0)).toBe(-1);
});

test('the message table keeps at most 128 messages whose hashes collide, including the latest message', () => {
  const table = new ApplicationMessages();
  const crowd = Array.from({ length: 10_000 }, (_, n): Digest => [1, 1, 7, n]);
  for (const [time, each] of crowd.entries()) table.add(each, time, 0);
  expect(crowd.filter((each) => table.find(each, -1) >= 0).length).toBeLessThanOrEqual(128);
  expect(table.find(crowd.at(-1)!, -1)).toBeGreaterThanOrEqual(0);
  expect(table.find([1, 1, 7, crowd.length], -1)).toBe(-1);
});

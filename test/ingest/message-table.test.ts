import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Digest } from '../../src/ingest/digest.ts';
import { MessageTable } from '../../src/ingest/message-table.ts';

const word = fc.oneof(fc.nat(3), fc.constantFrom(1023, 2047, 0xffffffff));
const identity = fc.tuple(word, word, word, word);

test('it gives what was put last, and nothing for what was not', () => {
  const puts = fc.array(fc.tuple(identity, fc.oneof(fc.nat(), fc.constant(Number.NEGATIVE_INFINITY))));
  fc.assert(
    fc.property(puts, fc.array(identity), (entries, others) => {
      const table = new MessageTable();
      const model = new Map<string, number>();
      for (const [each, time] of entries) {
        table.set(each, time);
        model.set(each.join(), time);
      }
      expect(table.size).toBe(model.size);
      for (const each of [...entries.map(([of]) => of), ...others]) {
        expect(table.get(each)).toBe(model.get(each.join()));
      }
    }),
  );
});

test('it grows and loses nothing', () => {
  const table = new MessageTable();
  const all = Array.from({ length: 50_000 }, (_, n): Digest => [1, Math.imul(n, 0x9e3779b1) >>> 0, n, 2]);
  for (const [time, each] of all.entries()) table.set(each, time);
  expect(table.size).toBe(all.length);
  expect(all.map((each) => table.get(each))).toEqual(all.map((_, time) => time));
});

test("messages that all belong in one place take each other's, and cost no more for it", () => {
  const table = new MessageTable();
  const crowd = Array.from({ length: 10_000 }, (_, n): Digest => [1, 7, n, 2]);
  for (const [time, each] of crowd.entries()) table.set(each, time);
  expect(table.size).toBeLessThanOrEqual(128);
  expect(table.get(crowd.at(-1)!)).toBe(crowd.length - 1);
  expect(table.get([1, 7, crowd.length, 2])).toBeUndefined();
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { totalLifeMs } from '../../src/storage/lmdb/totals.ts';
import { start } from './test-streams.ts';
import { appendHorizon, countRows, minute, setUp, sumChecks } from './two-nodes.ts';

const digest = Buffer.alloc(16, 1);
const hour = 3_600_000;

test.each([
  ['in the order of their times', [5, 8]],
  ['in the reverse order', [8, 5]],
])('running totals of two nodes count by their greatest value if they are shipped %s', (_, [first, second]) => {
  const { log, one, other, node } = setUp();
  one.sendTotal(first!, digest, start + first! * minute);
  one.ship(log, start + 10 * minute);
  other.sendTotal(second!, digest, start + second! * minute);
  other.ship(log, start + 10 * minute);
  node.follow(log);
  expect(sumChecks(node)).toEqual({ 'checkout/on': 8 });
});

test('a restarted replica compares running totals with its stored totals, which a horizon entry removes', async () => {
  const { log, one, node } = setUp();
  const send = (value: number, at: number) => {
    one.sendTotal(value, digest, at);
    one.ship(log, at);
    node.follow(log);
  };
  send(5, start);
  await node.restart();
  send(7, start + minute);
  expect(sumChecks(node)).toEqual({ 'checkout/on': 7 });
  const horizon = (now: number) => {
    appendHorizon(log, start, 0, now);
    node.follow(log);
    return countRows(node, 'totals');
  };
  expect(horizon(start + totalLifeMs)).toBe(2); // The total, and the number of totals.
  expect(horizon(start + totalLifeMs + hour)).toBe(0);
});

test('a running total whose points move between nodes counts its greatest value, in any order of shipping', () => {
  const step = fc.record({
    increase: fc.nat(9),
    nodes: fc.constantFrom(['one'], ['other'], ['one', 'other'], ['one', 'one']),
    ships: fc.subarray(['one', 'other']),
  });
  const { log, one, other, node } = setUp();
  const streams = { one, other } as Readonly<Record<string, typeof one>>;
  let run = 0;
  let counted = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), (steps, isOtherFirst) => {
      run += 1;
      const series = Buffer.alloc(16);
      series.writeUInt32BE(run);
      let value = 0;
      for (const [at, { increase, nodes, ships }] of steps.entries()) {
        value += increase;
        for (const name of nodes) streams[name]!.sendTotal(value, series, start + at);
        for (const name of ships) streams[name]!.ship(log, start + at);
      }
      for (const each of isOtherFirst ? [other, one] : [one, other]) each.ship(log, start + 100);
      node.follow(log);
      counted += value;
      expect(sumChecks(node)['checkout/on'] ?? 0).toBe(counted);
    }),
  );
});

import { expect, test } from 'vitest';
import { totalLifeMs } from '../../src/storage/lmdb/totals.ts';
import { start } from './test-streams.ts';
import { appendHorizon, checksOf, minute, rowsOf, setUp } from './two-nodes.ts';

const digest = Buffer.alloc(16, 1);
const hour = 3_600_000;

test.each([
  ['in the order of their times', [5, 8]],
  ['in the other order', [8, 5]],
])(
  'running totals that two nodes received count the greatest, if they are shipped %s',
  (_, [first, second]) => {
    const { log, one, other, node } = setUp();
    one.sendTotal(first!, digest, start + first! * minute);
    one.ship(log, start + 10 * minute);
    other.sendTotal(second!, digest, start + second! * minute);
    other.ship(log, start + 10 * minute);
    node.follow(log);
    expect(checksOf(node)).toEqual({ 'checkout/on': 8 });
  },
);

test('running totals are compared after a restart of the replica, and forgotten at the horizon', async () => {
  const { log, one, node } = setUp();
  const send = (value: number, at: number) => {
    one.sendTotal(value, digest, at);
    one.ship(log, at);
    node.follow(log);
  };
  send(5, start);
  await node.restart();
  send(7, start + minute);
  expect(checksOf(node)).toEqual({ 'checkout/on': 7 });
  const horizon = (now: number) => {
    appendHorizon(log, start, 0, now);
    node.follow(log);
    return rowsOf(node, 'totals');
  };
  expect(horizon(start + totalLifeMs)).toBe(2); // The total, and the number of them.
  expect(horizon(start + totalLifeMs + hour)).toBe(0);
});

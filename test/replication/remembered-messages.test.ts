import { expect, test } from 'vitest';
import { permanentAt } from '../../src/storage/lmdb/messages.ts';
import { start } from './test-streams.ts';
import { appendHorizon, checksOf, day, minute, packet, rowsOf, setUp } from './two-nodes.ts';

const identity = Buffer.alloc(16, 5);

test('a message that adds nothing excludes its retry, and nothing else', () => {
  const { log, one, other, node } = setUp();
  for (const stream of [one, other]) {
    stream.send(packet(), start); // The count of a process that may be one of several alike.
    stream.sendMessage(packet({ f: {} }), identity, start); // Its identity, for a retry on another node.
    stream.ship(log, start);
  }
  other.sendMessage(packet(), identity, start + minute);
  other.ship(log, start + minute);
  node.follow(log);
  expect(checksOf(node)).toEqual({ 'checkout/on': 2 });
});

test('a permanent message counts once, whenever its nodes ship it', () => {
  const { log, one, other, node } = setUp();
  one.sendMessage(packet(), identity, permanentAt);
  one.ship(log, start);
  node.follow(log);
  appendHorizon(log, start + 30 * day, log.position, start + 30 * day);
  other.sendMessage(packet(), identity, permanentAt);
  other.ship(log, start + 30 * day);
  node.follow(log);
  expect(rowsOf(node, 'messages')).toBe(1);
  expect(rowsOf(node, 'messageTimes')).toBe(1);
});

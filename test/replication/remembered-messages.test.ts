import { expect, test } from 'vitest';
import { start } from './test-streams.ts';
import { checksOf, minute, packet, setUp } from './two-nodes.ts';

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

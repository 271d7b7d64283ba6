import { expect, test } from 'vitest';
import { encodeBody } from '../../src/replication/entry.ts';
import { bucketWidth, measurementCodec, scanCells } from '../../src/storage/lmdb/blocks.ts';
import { permanentAt } from '../../src/storage/lmdb/messages.ts';
import { application, start } from './test-streams.ts';
import { appendHorizon, countRows, day, minute, packet, setUp, sumChecks } from './two-nodes.ts';

const identity = Buffer.alloc(16, 5);

test('a retry of a message without counts is not counted, but other packets are counted', () => {
  const { log, one, other, node } = setUp();
  for (const stream of [one, other]) {
    stream.send(packet(), start); // This packet has no identity, because any of several identical processes can send it.
    // The message without counts has the identity, so that its retry on another node does not count.
    stream.sendMessage(packet({ f: {} }), identity, start);
    stream.ship(log, start);
  }
  other.sendMessage(packet(), identity, start + minute);
  other.ship(log, start + minute);
  node.follow(log);
  expect(sumChecks(node)).toEqual({ 'checkout/on': 2 });
});

test('a permanent message counts once, whenever nodes ship it, and has a format that earlier releases refuse', () => {
  const { log, one, other, node } = setUp();
  one.sendMessage(packet(), identity, permanentAt);
  one.ship(log, start);
  node.follow(log);
  appendHorizon(log, start + 30 * day, log.position, start + 30 * day);
  other.sendMessage(packet(), identity, permanentAt);
  other.ship(log, start + 30 * day);
  node.follow(log);
  expect(countRows(node, 'messages')).toBe(1);
  expect(countRows(node, 'messageTimes')).toBe(1);
  const formats = log.entries.filter(({ kind }) => kind === 'delta').map(({ body }) => body[0]);
  expect(formats).toEqual([3, 3]);
});

/**
 * Returns the identity of a section of an import. It begins with the numbers of the application and the environment.
 */
function createPartIdentity(environment: number, part: number): Buffer {
  const words = Buffer.alloc(16, part);
  words.writeUInt32BE(application, 0);
  words.writeUInt32BE(environment, 4);
  return words;
}

const summary = { sum: 9, count: 3, last: 2, lastAt: start, min: 1, max: 6 };

test('a summary of values that two nodes import counts once', () => {
  const { log, one, other, node } = setUp();
  one.importSummary(summary, createPartIdentity(1, 1), 1, start);
  other.importSummary(summary, createPartIdentity(1, 1), 1, start);
  other.importSummary({ ...summary, sum: 1, max: 7, lastAt: start - 1, last: 5 }, createPartIdentity(1, 2), 1, start);
  for (const stream of [one, other]) stream.ship(log, start);
  node.follow(log);
  const cells = scanCells(node.store.measurements, measurementCodec, 1, bucketWidth.minute, 0, 2 ** 32 - 1);
  expect([...cells].map(({ value }) => value)).toEqual([{ ...summary, sum: 10, count: 6, max: 7 }]);
  expect(node.refused).toEqual([]);
});

test('the permanent messages of a deleted environment are removed, and messages of other environments are kept', () => {
  const { log, one, node } = setUp();
  for (const environment of [1, 2, 3])
    for (const part of [1, 2]) one.importSummary(summary, createPartIdentity(environment, part), environment, start);
  one.ship(log, start);
  log.append('erase', encodeBody('erase', { application, environments: [2], whole: false }));
  node.follow(log);
  while (node.replica.erase(1));
  expect(countRows(node, 'messages')).toBe(4);
  expect(countRows(node, 'messageTimes')).toBe(4);
});

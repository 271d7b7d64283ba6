import { expect, test } from 'vitest';
import { encodeDelta } from '../../src/replication/delta.ts';
import { maxSkewMs } from '../../src/replication/postgres/shared-clock.ts';
import type { Digest } from '../../src/storage/commit/records.ts';
import { cumulativeLifeMs, repeats } from '../../src/storage/lmdb/cumulative.ts';
import { ledgerEntries } from '../../src/storage/lmdb/ledger.ts';
import { OpenDelta } from './open-delta.ts';
import { start } from './test-streams.ts';
import { appendHorizon, countRows, minute, packet, setUp, sumChecks } from './two-nodes.ts';

const identity: Digest = [1, 2, 3, 4];

test.each<[string, readonly [5 | 8, 5 | 8]]>([
  ['the earlier totals are shipped first', [5, 8]],
  ['the later totals are shipped first', [8, 5]],
])('totals sent to two nodes count by their increase if %s', (_, [first, second]) => {
  const { log, one, other, node } = setUp();
  const stop = { 5: start, 8: start + minute };
  one.sendTotals({ on: first }, identity, start, { stop: stop[first] });
  one.ship(log, start);
  other.sendTotals({ on: second }, identity, start + minute, { stop: stop[second] });
  other.ship(log, start + minute);
  node.follow(log);
  expect(sumChecks(node)).toEqual({ 'checkout/on': 8 });
});

test('a Go SDK bucket sent to two nodes counts once and is noted, but a different bucket counts in full', () => {
  const { log, one, other, node } = setUp();
  for (const [stream, on, stop] of [
    [one, 5, start],
    [other, 5, start],
    [other, 6, start + 3],
  ] as const) {
    stream.sendTotals({ on }, identity, start, { stop, repeats: repeats.withoutVariants });
    stream.ship(log, start);
  }
  node.follow(log);
  expect(sumChecks(node)).toEqual({ 'checkout/on': 11 });
  node.store.lmdb.resetReadTxn();
  const hour = Math.floor(start / 3_600_000);
  const notes = Array.from(ledgerEntries(node.store, 1, hour, hour + 1), ({ dimensions }) => dimensions.code);
  expect(notes.sort()).toEqual(['possible_repeat', 'repeated']);
});

test('a restarted replica compares totals with its stored totals, which a horizon entry removes', async () => {
  const { log, one, node } = setUp();
  const send = (totals: Record<string, number>, at: number) => {
    one.sendTotals(totals, identity, at);
    one.ship(log, at);
    node.follow(log);
  };
  send({ on: 5 }, start);
  await node.restart();
  send({ on: 5, off: 2 }, start + minute);
  expect(sumChecks(node)).toEqual({ 'checkout/on': 5, 'checkout/off': 2 });
  expect(countRows(node, 'cumulative')).toBe(3);
  appendHorizon(log, start + minute + cumulativeLifeMs + maxSkewMs, 0);
  node.follow(log);
  expect(countRows(node, 'cumulative')).toBe(3);
  appendHorizon(log, start + minute + cumulativeLifeMs + maxSkewMs + 1, 0);
  node.follow(log);
  expect(countRows(node, 'cumulative')).toBe(0);
});

test('a delta has the format of earlier releases if it has no running totals and no newer route', () => {
  const head = { stream: 'one', seq: 1, since: 0, version: 1, through: start };
  const { one, log } = setUp();
  one.send(packet(), start);
  one.ship(log, start);
  one.sendTotals({ on: 1 }, identity, start);
  one.ship(log, start);
  const named = new OpenDelta().seal(head);
  const sender = { name: 'billing', version: null, transport: 'http', route: 'unleash' } as const;
  const routed = { ...named, senders: [{ ...sender, environment: 1, ordinal: 0, first: 1, last: 1 }] };
  const bodies = [...log.entries.map(({ body }) => body), encodeDelta(named), encodeDelta(routed)];
  expect(bodies.map((body) => body[0])).toEqual([1, 3, 1, 3]);
});

import { describe, expect, test } from 'vitest';
import { encodeBody } from '../../src/replication/entry.ts';
import { listExposures } from './test-replica.ts';
import { appendMints, application, createMint, hashPerson, start, type TestLog } from './test-streams.ts';
import { appendHorizon, countRows, day, minute, packet, setUp, sumChecks } from './two-nodes.ts';

function appendForget(log: TestLog, identity: string): void {
  const digest = hashPerson(identity).toString('hex');
  log.append('forget', encodeBody('forget', { application, environments: [1, 2], digest }));
}

describe('uses of an instance id that is unknown to the node', () => {
  const mint = createMint('ann', 1, start, 60 * minute);
  const known = { 'checkout/on': expect.objectContaining({ checks: 1 }) };

  test.each([
    ['was minted before', [mint], 1, known],
    ['was replaced, but was valid at the time', [mint, createMint('ann', 2, start, day)], 0, known],
    ['was never minted', [], 1, {}],
    ['differs from the minted id', [createMint('ann', 9, start, day)], 1, {}],
    ['had expired', [mint], 61, {}],
  ])('uses of an instance id that is unknown to the node count correctly if the id %s', (_, mints, minutes, rows) => {
    const { log, one, node } = setUp();
    appendMints(log, ...mints);
    one.sendUnresolved(packet({ person: 'ann' }), mint, start + minutes * minute);
    one.ship(log, start);
    node.follow(log);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 1 }); // The packet counts for any instance id.
    expect(listExposures(node.store, ['ann'])[0]).toEqual(['ann', 1, rows]);
  });

  test('duplicate mints in the log do not change the content of a replica', () => {
    const { log, node } = setUp();
    const later = createMint('ann', 2, start, day);
    appendMints(log, mint, later);
    node.follow(log);
    const content = node.content();
    appendMints(log, mint);
    appendMints(log, later);
    node.follow(log);
    expect(node.content()).toEqual(content);
  });
});

describe('a forgotten person', () => {
  const nothing = ['ann', 1, {}];

  test('late deltas do not restore a forgotten person, and later uses by that person count again', () => {
    const { log, one, other, node } = setUp();
    const mint = createMint('ann', 1, start, day);
    appendMints(log, mint);
    one.send(packet({ person: 'ann' }), start);
    one.ship(log, start);
    other.send(packet({ person: 'ann' }), start); // The packet is counted before the person is forgotten.
    other.sendMessage(packet({ person: 'ann' }), Buffer.alloc(16, 1), start);
    other.sendUnresolved(packet({ person: 'ann' }), mint, start);
    appendForget(log, 'ann');
    node.follow(log);
    expect(listExposures(node.store, ['ann'])[0]).toEqual(nothing);
    other.ship(log, start);
    node.follow(log);
    expect(listExposures(node.store, ['ann'])[0]).toEqual(nothing);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 4 });
    other.send(packet({ person: 'ann' }), start);
    other.ship(log, start);
    node.follow(log);
    expect(listExposures(node.store, ['ann'])[0]).not.toEqual(nothing);
  });

  test('the list of forgotten people contains a person until every stream has applied the forget entry', () => {
    const { log, one, other, node } = setUp();
    appendForget(log, 'ann');
    appendHorizon(log, start, 0);
    node.follow(log);
    expect(countRows(node, 'forgotten')).toBe(1);
    appendHorizon(log, start, 1);
    node.follow(log);
    expect(countRows(node, 'forgotten')).toBe(0);
    for (const stream of [one, other]) stream.send(packet({ person: 'ann' }), start);
    one.ship(log, start); // Both deltas were begun at position 0.
    node.follow(log);
    expect(listExposures(node.store, ['ann'])[0]).toEqual(nothing);
    expect(node.refused).toMatchObject([{ place: 'exposures', stream: 'one' }]);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 1 });
  });

  test('a delta that began before a horizon entry still changes people if no person was forgotten', () => {
    const { log, one, node } = setUp();
    appendMints(log, createMint('ann', 1, start, day));
    appendHorizon(log, start, 1);
    node.follow(log);
    one.send(packet({ person: 'ann' }), start);
    one.ship(log, start); // The delta was begun at position 0, because its node had not reached PostgreSQL before.
    node.follow(log);
    expect(listExposures(node.store, ['ann'])[0]).not.toEqual(nothing);
    expect(node.refused).toEqual([]);
  });
});

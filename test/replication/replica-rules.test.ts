import { describe, expect, onTestFinished, test } from 'vitest';
import { NewerEntry } from '../../src/replication/apply-entry.ts';
import { encodeDelta } from '../../src/replication/delta.ts';
import { defaultSettings, encodeBody } from '../../src/replication/entry.ts';
import { maxSkewMs } from '../../src/replication/postgres/shared-clock.ts';
import { bucketWidth, encodeBucket, measurementCodec, scanCells, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { readSenders } from '../../src/storage/lmdb/senders.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { OpenDelta } from './open-delta.ts';
import { listExposures, TestReplica } from './test-replica.ts';
import { appendMints, application, createMint, start } from './test-streams.ts';
import { appendHorizon, countRows, day, minute, packet, setUp, sumChecks } from './two-nodes.ts';

describe('the order of entries', () => {
  test.each([
    ['omits an entry', [0, 2]],
    ['starts too late', [1]],
    ['repeats an entry', [0, 0]],
  ])('a list of entries that %s is not applied at all', (_, places) => {
    const { log, one, node } = setUp();
    for (let each = 0; each < 3; each += 1) {
      one.send(packet(), start);
      one.ship(log, start);
    }
    expect(() => node.replica.apply(places.map((place) => log.entries[place]!))).toThrow('is the next');
    expect(node.replica.applied).toEqual({ position: 0, id: '0' });
    expect(sumChecks(node)).toEqual({});
  });

  test('a replica keeps the position and the id of its last entry after a restart', async () => {
    const { log, one, node } = setUp();
    one.send(packet(), start);
    one.ship(log, start);
    node.follow(log);
    await node.restart();
    expect(node.replica.applied).toEqual({ position: 1, id: '7919' });
    one.send(packet(), start);
    one.ship(log, start);
    node.follow(log);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 2 });
  });
});

test('a failed commit leaves nothing in memory, and its entry is applied again', () => {
  const { log, one, other, node } = setUp();
  for (const stream of [one, other]) {
    for (const ship of [1, 2, 3]) {
      const f = { [`feature-${ship}`]: { on: [ship] } };
      stream.send(packet({ f, m: { load: ship }, person: 'ann' }), start);
      stream.sendMessage(packet(), Buffer.alloc(16, ship), start);
      stream.ship(log, start);
    }
  }
  appendHorizon(log, start, 0, start + 100 * day);
  const whole = new TestReplica(temporaryDirectory());
  onTestFinished(() => whole.store.lmdb.close());
  whole.follow(log);
  const { replica: table } = node.store;
  const putSync = table.putSync.bind(table);
  for (let puts = 0; node.replica.applied.position < log.position; puts += 1) {
    let left = puts;
    table.putSync = ((...put: Parameters<typeof putSync>) => {
      left -= 1;
      if (left < 0) throw new Error('the disk is full');
      return putSync(...put);
    }) as typeof putSync;
    const { position } = node.replica.applied;
    try {
      node.step(log);
    } catch (error) {
      expect((error as Error).message).toBe('the disk is full');
      expect(node.replica.applied.position).toBe(position);
    }
  }
  table.putSync = putSync as typeof table.putSync;
  expect(node.content()).toEqual(whole.content());
});

describe('an entry of a newer version', () => {
  test.each([
    ['kind', { kind: 'dance' as never }, 'kind "dance"'],
    ['format', { body: Buffer.of(9, 1, 2) }, 'format 9'],
  ])('a replica applies all entries before an entry of unknown %s, and then fails', (_, other, words) => {
    const { log, one, node } = setUp();
    for (let each = 0; each < 2; each += 1) {
      one.send(packet(), start);
      one.ship(log, start);
    }
    const entries = [log.entries[0]!, { ...log.entries[1]!, ...other }];
    expect(node.replica.apply(entries).count).toBe(1);
    expect(() => node.replica.apply(entries.slice(1))).toThrow(NewerEntry);
    expect(() => node.replica.apply(entries.slice(1))).toThrow(words);
    expect(node.replica.applied.position).toBe(1);
    node.follow(log); // The node continues after a software update.
    expect(sumChecks(node)).toEqual({ 'checkout/on': 2 });
  });
});

describe('a message', () => {
  const identity = Buffer.alloc(16, 5);

  test.each([
    [0, 1],
    [9, 1],
    [-9, 1],
    [10, 2],
    [-10, 2],
  ])('a message and its copy on another node, whose time differs by %i minutes, add up to %i', (minutes, times) => {
    const { log, one, other, node } = setUp();
    const at = start + 60 * minute;
    one.sendMessage(packet({ person: 'ann', m: { load: 2 } }), identity, at);
    other.sendMessage(packet({ person: 'ann', m: { load: 2 } }), identity, at + minutes * minute);
    one.ship(log, at);
    other.ship(log, at);
    node.follow(log);
    expect(sumChecks(node)).toEqual({ 'checkout/on': times });
    const [, , rows] = listExposures(node.store, ['ann'])[0] as [string, number, Record<string, { checks: number }>];
    expect(rows['checkout/on']!.checks).toBe(times);
  });

  test('a replica remembers a message until no stream can ship the message again', () => {
    const { log, one, other, node } = setUp();
    one.sendMessage(packet(), identity, start);
    one.ship(log, start);
    appendHorizon(log, start + 10 * minute + maxSkewMs, 0, start + 9 * day);
    node.follow(log);
    expect([countRows(node, 'messages'), countRows(node, 'messageTimes')]).toEqual([1, 1]);
    other.sendMessage(packet(), identity, start + 10 * minute - 1);
    other.ship(log, start + 5 * day);
    appendHorizon(log, start + 10 * minute + maxSkewMs + 1, 0, start + 9 * day);
    node.follow(log);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 1 });
    expect([countRows(node, 'messages'), countRows(node, 'messageTimes')]).toEqual([0, 0]);
  });
});

test('the last value of a metric is the last in log order if several messages have the same time', () => {
  const { log, one, other, node } = setUp();
  for (const [stream, value, at] of [
    [one, 1, start + 5],
    [other, 2, start + 5],
    [one, 3, start + 4],
  ] as const) {
    stream.send(packet({ f: {}, m: { load: value } }), at);
    stream.ship(log, start);
  }
  node.follow(log);
  const to = start / minute + 1;
  const [cell] = scanCells(node.store.measurements, measurementCodec, 1, bucketWidth.minute, 0, to);
  expect(cell?.value).toEqual({ sum: 6, count: 3, last: 2, lastAt: start + 5, min: 1, max: 3 });
});

test('a replica applies limits in the order of the log, with the settings in the log', () => {
  const { log, one, other, node } = setUp();
  log.append('settings', encodeBody('settings', { ...defaultSettings, features: 1, identities: 1 }));
  other.send(packet({ f: { second: { on: [1] } }, person: 'bob' }), start);
  one.send(packet({ f: { first: { on: [1] } }, person: 'ann' }), start);
  one.ship(log, start);
  other.ship(log, start);
  node.follow(log);
  expect(sumChecks(node)).toEqual({ 'first/on': 1, '__other__/on': 1 });
  expect(listExposures(node.store, ['bob'])[0]).toEqual(['bob', 1, {}]);
  log.append('settings', encodeBody('settings', { ...defaultSettings, features: 2, identities: 2 }));
  other.send(packet({ f: { third: { on: [1] } }, person: 'bob' }), start);
  other.ship(log, start);
  node.follow(log);
  expect(sumChecks(node)).toEqual({ 'first/on': 1, '__other__/on': 1, 'third/on': 1 });
  expect(listExposures(node.store, ['bob'])[0]).not.toEqual(['bob', 1, {}]);
});

test('the senders of a feature are stored under one series, whichever variant a node saw first', () => {
  const { log, one, other, node } = setUp();
  one.send(packet({ f: { checkout: { on: [1] } }, sender: 'Firefox' }), start);
  other.send(packet({ f: { checkout: { off: [1] } }, sender: 'Chrome' }), start);
  one.ship(log, start);
  other.ship(log, start);
  node.follow(log);
  node.store.lmdb.resetReadTxn();
  expect(readSenders(node.store, 1, 0).map(({ name }) => name)).toEqual(['Firefox', 'Chrome']);
  expect(readSenders(node.store, 1, 1)).toEqual([]);
});

describe('invalid content', () => {
  const head = { stream: 'one', seq: 1, since: 0, version: 1, through: start };
  const bucket = encodeBucket(bucketWidth.minute, start / minute);

  test('an invalid row of a delta is refused, and the other rows of the delta count', () => {
    const { log, node } = setUp();
    const delta = {
      ...new OpenDelta().seal(head),
      series: [{ environment: 1, ordinal: 4, name: ['checkout', 'on'] as const }],
      counts: [...[seriesRef(1, 5), bucket, 9, 9, 9], ...[seriesRef(1, 4), bucket, 1, 0, 0]],
    };
    log.append('delta', encodeDelta(delta), 'one', 1);
    const { refused } = node.replica.apply(log.entries);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 1 });
    const [row] = refused;
    expect(row).toMatchObject({ position: 1, stream: 'one', seq: 1, place: 'counts' });
    expect(JSON.parse(row!.row)).toEqual([seriesRef(1, 5), bucket, 9, 9, 9]);
    expect(refused).toHaveLength(1);
  });

  test.each([
    ['delta', 'delta'],
    ['mint', 'mint'],
    ['forget', 'forget'],
    ['horizon', 'horizon'],
    ['settings', 'settings'],
  ] as const)('an unreadable entry of the kind %s is refused, and the log continues', (kind, place) => {
    const { log, one, node } = setUp();
    log.append(kind, Buffer.of(1, 0xc1), 'other', 1);
    one.send(packet(), start);
    one.ship(log, start);
    node.follow(log);
    expect(node.refused).toMatchObject([{ position: 1, place }]);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 1 });
  });

  test('a delta that is in the log twice is refused the second time', () => {
    const { log, one, node } = setUp();
    one.send(packet(), start);
    one.ship(log, start);
    log.append('delta', log.entries[0]!.body, 'one', 1);
    node.follow(log);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 1 });
    expect(node.refused).toHaveLength(1);
  });
});

test('content of deleted objects is erased in steps, and a later delta does not restore it', async () => {
  const { log, one, node } = setUp();
  for (const environment of [1, 2]) one.send(packet({ environment, person: 'ann' }), start);
  one.ship(log, start);
  log.append('erase', encodeBody('erase', { application, environments: [2], whole: true }));
  for (const environment of [1, 2]) one.send(packet({ environment, person: 'ann' }), start);
  one.ship(log, start);
  appendMints(log, createMint('ann', 1, start, day));
  node.follow(log);
  node.replica.erase(1);
  await node.restart();
  node.upkeep(start);
  expect(sumChecks(node)).toEqual({ 'checkout/on': 2 });
  const keys = (table: 'counts' | 'exposures' | 'series' | 'senders') => [...node.store[table].getKeys()];
  for (const table of ['counts', 'exposures', 'series', 'senders'] as const) {
    expect(keys(table).map((key) => key.readUInt32BE(0))).not.toContain(2);
  }
  expect([...node.store.identities.getKeys(), ...node.store.ledger.getKeys()]).toEqual([]);
  expect(node.refused).toEqual([]);
});

describe('a horizon entry', () => {
  test('a horizon entry is applied completely in several calls, even if the process ends between calls', async () => {
    const { log, one, node } = setUp();
    for (let ago = 0; ago < 30; ago += 1) one.send(packet({ m: { load: ago }, ago: 3000 + ago }), start);
    one.ship(log, start);
    appendHorizon(log, start, 0, start);
    node.pace = 10; // The time is sufficient for only one step.
    node.step(log);
    expect(node.replica.apply(log.entries.slice(1)).count).toBe(0);
    await node.restart();
    node.follow(log);
    expect(node.replica.applied.position).toBe(2);
    const cells = (width: 0 | 1) => [...scanCells(node.store.measurements, measurementCodec, 1, width, 0, 2 ** 32 - 1)];
    expect(cells(bucketWidth.minute)).toEqual([]);
    expect(cells(bucketWidth.hour).reduce((sum, { value }) => sum + value.count, 0)).toBe(30);
  });

  test('a horizon entry removes the series of closed streams', () => {
    const { log, one, other, node } = setUp();
    for (const stream of [one, other]) {
      stream.send(packet(), start);
      stream.ship(log, start);
    }
    node.follow(log);
    expect(countRows(node, 'streamSeries')).toBe(2);
    appendHorizon(log, start, 0, start, ['other']);
    other.send(packet(), start);
    other.ship(log, start);
    node.follow(log);
    expect(countRows(node, 'streamSeries')).toBe(1);
    expect(sumChecks(node)).toEqual({ 'checkout/on': 3 });
  });
});

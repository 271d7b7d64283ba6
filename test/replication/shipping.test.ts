import { expect, vi } from 'vitest';
import { defaultSettings } from '../../src/replication/entry.ts';
import { needing } from '../support/needing.ts';
import type { FaultKind } from './faulty-session.ts';
import {
  begin,
  ended,
  expectCounts,
  kill,
  logged,
  newDatabase,
  postgres,
  restart,
  start,
  startPostgres,
} from './nodes.ts';

startPostgres();

const { describe, it } = needing('postgresql');

describe('nodes with one PostgreSQL', () => {
  it('each node that uses a PostgreSQL has the counts of all nodes that use it', async () => {
    const url = await newDatabase();
    const nodes = [await start(url, { name: 'a' }), await start(url, { name: 'b' }), await start(url)];
    for (const [index, node] of nodes.entries()) {
      node.count('f', 10 ** index);
      node.count(`of-${index}`);
    }
    for (const node of nodes) await expectCounts(node, { f: 111, 'of-0': 1, 'of-1': 1, 'of-2': 1 });
  });

  it('names are limited by the settings of the node that started last, from its first packet on', async () => {
    const url = await newDatabase();
    const one = begin(url, { settings: { ...defaultSettings, features: 2 } });
    for (const feature of ['a', 'b', 'c', 'd']) one.count(feature);
    await expectCounts(one, { a: 1, b: 1, __other__: 2 });
    const two = begin(url, { settings: { ...defaultSettings, features: 3 } });
    for (const feature of ['e', 'f']) two.count(feature);
    for (const node of [one, two]) await expectCounts(node, { a: 1, b: 1, e: 1, __other__: 3 });
  });

  it('a report includes all packets acknowledged before it, and states the time through which it is complete', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    await two.node.freshen();
    const before = Date.now();
    one.count('f');
    await one.node.freshen();
    expect(one.counts()).toEqual({ f: 1 });
    await expect.poll(async () => (await one.node.freshen()).completeThrough).toBeGreaterThanOrEqual(before);
  });

  it("reports are complete through a time of PostgreSQL's clock, even if the clocks of nodes are wrong", async () => {
    const url = await newDatabase();
    const one = await start(url, { clockMs: 4_000 });
    const two = await start(url, { clockMs: 3_000 });
    for (const clockMs of [4_000, -4_000, 2_000, 4_500, 0]) {
      one.clockMs = clockMs;
      const before = Date.now();
      one.count('f');
      await one.node.freshen();
      for (const node of [one, two]) {
        const through = async () => (await node.node.freshen()).completeThrough;
        await expect.poll(through).toBeGreaterThanOrEqual(before);
        expect(await through()).toBeLessThanOrEqual(Date.now());
      }
    }
    expect([one.counts(), two.counts()]).toEqual([{ f: 5 }, { f: 5 }]);
  });

  it('a node that stops ships all of its counts, and deregisters', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    one.count('f', 3);
    ended(one);
    expect(await one.stop()).toBe(true);
    await expectCounts(two, { f: 3 });
    expect(await postgres.query('SELECT state FROM fm_stream WHERE stream = $1', [one.stream], url)).toEqual([
      { state: 'done' },
    ]);
    expect(await postgres.query('SELECT state FROM fm_node WHERE directory = $1', [one.spool.directory], url)).toEqual([
      { state: 'done' },
    ]);
  });

  it('a node ships the counts of an outage once PostgreSQL is back', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    one.session.fault = () => 'refused';
    for (let round = 0; round < 60; round += 1)
      one.countAll(Array.from({ length: 100 }, (_, index) => [`f${index}`, 1, round] as const));
    await one.until(({ status }) => !status.postgres.connected);
    await expect(one.node.freshen()).rejects.toMatchObject({ code: 'postgres_unavailable' });
    one.session.fault = () => undefined;
    const all = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 60]));
    await expectCounts(one, all);
    await expectCounts(two, all);
    expect(logged(one, 'info')).toContain('PostgreSQL is available again');
  });
});

it('a commit that succeeds after it was abandoned counts once, even if its deltas were shipped again first', async () => {
  const url = await newDatabase();
  const one = await start(url);
  const two = await start(url);
  let late = 0;
  for (let round = 1; round <= 3; round += 1) {
    // The node can still be disconnected after the previous round.
    await vi.waitFor(() => one.node.freshen());
    one.session.fault = (name) => {
      if (name !== 'BEGIN' || late === round) return undefined;
      late += 1;
      return 'late';
    };
    one.count('f', 10 ** round);
    await expectCounts(one, { f: 1110 % 10 ** (round + 1) });
  }
  await expectCounts(two, { f: 1110 });
  expect(late).toBe(3);
  const log = `SELECT seq FROM fm_entry WHERE kind = 'delta' ORDER BY position`;
  expect(await postgres.query(log, [], url)).toEqual([{ seq: '1' }, { seq: '2' }, { seq: '3' }]);
});

describe('a node', () => {
  const places: readonly (readonly [statement: string, kind: FaultKind])[] = [
    ['fm-append-1', 'killed before'],
    ['fm-append-1', 'killed after'],
    ['fm-beat', 'killed before'],
    ['fm-beat', 'killed after'],
    ['fm-follow', 'killed after'],
    ['fm-done', 'killed before'],
    ['fm-done', 'killed after'],
    ['fm-join-claim', 'killed after'],
  ];

  it.each(places)('each packet counts once despite a kill (statement %s, node %s it)', async (statement, kind) => {
    const url = await newDatabase();
    const other = await start(url);
    let node = await start(url);
    let total = 0;
    for (let round = 0; round < 4; round += 1) {
      node.count('f', 10 ** round);
      total += 10 ** round;
      node.session.fault = (name) => (name === statement ? kind : undefined);
      void node.node.freshen().catch(() => {});
      if (statement !== 'fm-done' && statement !== 'fm-join-claim')
        await expect.poll(() => node.session.isKilled).toBe(true);
      const fault = round % 2 === 0 ? undefined : (name: string) => (name === statement ? kind : undefined);
      await kill(url, node);
      const next = begin(url, { data: node.data, ...(fault && { fault }) });
      next.count('g');
      node = next;
    }
    node = await restart(url, node);
    await expectCounts(node, { f: total, g: 4 });
    await expectCounts(other, { f: total, g: 4 });
  });

  it('a node counts each packet once if responses of PostgreSQL are lost', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    let statements = 0;
    one.session.fault = () => (++statements % 3 === 0 ? 'lost' : undefined);
    for (let round = 0; round < 20; round += 1) {
      one.count('f');
      await one.node.freshen().catch(() => {});
    }
    one.session.fault = () => undefined;
    await expectCounts(one, { f: 20 });
    await expectCounts(two, { f: 20 });
  });
});

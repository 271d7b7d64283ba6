import { cpSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { LogAppender } from '../../src/replication/log.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { FaultKind } from './faulty-session.ts';
import {
  begin,
  closeStreams,
  expectCounts,
  kill,
  logged,
  newDatabase,
  postgres,
  restart,
  start,
  startPostgres,
} from './nodes.ts';
import { connect, type TestNode } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

/** Calls `count` while a node cannot reach PostgreSQL. */
async function countCutOff(node: TestNode, count: () => void): Promise<void> {
  node.session.fault = () => 'refused';
  count();
  await node.until(({ status }) => !status.postgres.connected);
}

function copyDirectory(data: string): string {
  const copy = temporaryDirectory();
  cpSync(data, copy, { recursive: true });
  return copy;
}

describe('a process whose stream was closed', () => {
  it('a process whose stream was closed keeps its counts, and the next process ships each count once', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    one.count('f', 1);
    await expectCounts(two, { f: 1 });
    await countCutOff(one, () => one.count('f', 10));
    await closeStreams(url, one);
    one.count('f', 100);
    one.count('g', 1000);
    one.session.fault = () => undefined;
    const { refuses, trouble } = await one.until((told) => told.refuses !== undefined);
    expect([refuses, trouble]).toEqual(['closed', undefined]);
    expect(logged(one, 'error')).toEqual([expect.stringContaining('until it is restarted')]);
    await expectCounts(two, { f: 1 });
    const again = await restart(url, one);
    again.count('g', 2000);
    for (const node of [again, two]) await expectCounts(node, { f: 111, g: 3000 });
    expect((await again.until((told) => told.refuses === undefined)).trouble).toBeUndefined();
  });

  it('a process notices that its stream was closed, even if PostgreSQL has all of its counts', async () => {
    const url = await newDatabase();
    const one = await start(url);
    one.count('f', 1);
    await expectCounts(one, { f: 1 });
    await closeStreams(url, one);
    await one.until(({ refuses }) => refuses === 'closed');
    one.count('f', 10);
    expect(await one.node.end()).toBe(false);
    await expectCounts(await restart(url, one), { f: 11 });
  });

  it('the deltas of a closed stream are shipped even if other nodes have forgotten the series names of the stream', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    one.count('f', 1);
    await expectCounts(two, { f: 1 });
    await countCutOff(one, () => one.count('f', 10));
    await kill(url, one);
    await closeStreams(url, one);
    const session = connect(url);
    onTestFinished(() => session.close());
    expect(await new LogAppender(session).horizon(0)).toBe(true);
    await two.node.freshen();
    const again = await start(url, { data: one.data });
    for (const node of [again, two]) await expectCounts(node, { f: 11 });
    expect(await postgres.query('SELECT * FROM fm_refused', [], url)).toEqual([]);
  });

  const places: readonly (readonly [statement: string, kind: FaultKind])[] = [
    ['fm-register', 'killed before'],
    ['fm-register', 'killed after'],
    ['fm-append-2', 'killed before'],
    ['fm-append-2', 'killed after'],
    ['fm-done', 'killed before'],
    ['fm-done', 'killed after'],
  ];

  it.each(places)(
    'the deltas of a closed stream are shipped once (statement %s, node %s it)',
    async (statement, kind) => {
      const url = await newDatabase();
      const one = await start(url);
      const two = await start(url);
      await one.node.freshen();
      await countCutOff(one, () => one.count('f', 10));
      await kill(url, one);
      await closeStreams(url, one);
      const fault = (name: string) => (name === statement ? kind : undefined);
      const second = begin(url, { data: one.data, fault });
      second.count('f', 100);
      await expect.poll(() => second.session.isKilled).toBe(true);
      const third = await restart(url, second);
      for (const node of [third, two]) await expectCounts(node, { f: 110 });
      const open = `SELECT stream FROM fm_stream WHERE state = 'open' AND directory = $1`;
      await expect.poll(() => postgres.query(open, [third.spool.directory], url)).toHaveLength(1);
    },
  );
});

describe('a copied directory', () => {
  it('a node on a copied directory stops counting if PostgreSQL has later deltas, so nothing counts twice', async () => {
    const url = await newDatabase();
    const two = await start(url);
    const one = await start(url);
    one.count('f', 1);
    await one.node.freshen();
    await countCutOff(one, () => one.count('f', 10));
    const data = copyDirectory(one.data);
    one.session.fault = () => undefined;
    one.count('f', 100);
    await expectCounts(one, { f: 111 });
    await kill(url, one);
    const copy = begin(url, { data });
    copy.count('f', 1000); // The copy accepts the packet before it detects that it is a copy.
    await copy.until(({ refuses }) => refuses === 'copied');
    for (const node of [copy, two]) await expectCounts(node, { f: 1111 });
    expect(logged(copy, 'error')).toEqual([expect.stringContaining('start a node with an empty directory')]);
    const again = await restart(url, copy);
    await again.until(({ refuses }) => refuses === 'copied');
  });

  it.each([
    ['ships its own counts if the copy has shipped the same deltas', true],
    ['keeps its own counts if the copy has shipped other deltas', false],
  ])('a node counts nothing while a process runs on a copy of its directory, and then %s', async (_, isSame) => {
    const url = await newDatabase();
    const one = await start(url, { name: 'one' });
    one.count('f', 1);
    await expectCounts(one, { f: 1 });
    one.session.fault = () => 'refused';
    if (isSame) one.session.fault = (name) => (name.startsWith('fm-append') ? 'refused' : undefined);
    else await one.until(({ status }) => !status.postgres.connected); // Nothing is sealed from now on.
    one.count('f', 10);
    await expect.poll(() => one.spool.stream(one.stream)?.sealed).toBe(isSame ? 2 : 1);
    one.session.fault = () => 'refused';
    await one.until(({ status }) => !status.postgres.connected);
    const data = copyDirectory(one.data);
    one.count('f', 100);
    await postgres.query(`UPDATE fm_node SET beat_at = beat_at - interval '3 s'`, [], url);
    const copy = await start(url, { data, name: 'copy' });
    copy.count('f', 1000);
    await expectCounts(copy, { f: 1011 });
    one.session.fault = () => undefined;
    await one.until(({ refuses }) => refuses === 'copied');
    const next = 'this node counts nothing while the other process runs, and keeps its earlier counts';
    expect(one.lines).toContainEqual(
      expect.objectContaining({ msg: 'another process uses the directory of this node', next }),
    );
    await kill(url, copy);
    const again = await restart(url, one);
    if (isSame) return expectCounts(again, { f: 1111 });
    await again.until(({ refuses }) => refuses === 'copied');
    expect(logged(again, 'error')).toEqual([expect.stringContaining('This node keeps its counts')]);
    expect(again.spool.stream(one.stream)).toMatchObject({ sealed: 2, acknowledged: 1 });
    await expectCounts(again, { f: 1011 });
  });
});

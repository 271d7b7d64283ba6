import { cpSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { findLoss, forgetNode } from '../../src/replication/postgres/forget-node.ts';
import { postgresWarnings, readPostgres } from '../../src/replication/postgres/postgres-report.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import {
  copyDatabase,
  expectCounts,
  kill,
  logged,
  newDatabase,
  postgres,
  restart,
  start,
  startPostgres,
} from './nodes.ts';
import { connect, TestNode } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

const openStreams = (url: string) =>
  postgres.query<{ stream: string }>(`SELECT stream FROM fm_stream WHERE state = 'open'`, [], url);

/** Resolves when a node is complete through a time after this call. */
async function expectComplete(node: TestNode): Promise<void> {
  const now = Date.now();
  await node.until(({ status }) => status.completeThrough > now);
}

/** Kills a node, and then copies its directory. */
async function copyAfterKill(url: string, node: TestNode): Promise<string> {
  await kill(url, node);
  const copy = temporaryDirectory();
  cpSync(node.data, copy, { recursive: true });
  return copy;
}

/** Runs a process on a copy of a directory until it is killed. @returns its stream */
async function runCopy(url: string, data: string, counts: number): Promise<string> {
  const copy = await start(url, { data });
  if (counts > 0) {
    copy.count('f', counts);
    await expectCounts(copy, { f: counts });
  }
  await kill(url, copy);
  return copy.stream;
}

async function readWarnings(url: string): Promise<string[]> {
  const session = connect(url);
  onTestFinished(() => session.close());
  return postgresWarnings(await readPostgres(session), 0);
}

describe('a process that is killed before it ships anything', () => {
  it('a process that shipped nothing does not hold back reports once another process uses its directory', async () => {
    const url = await newDatabase();
    const other = await start(url);
    const one = await start(url);
    const again = await restart(url, one);
    await expectComplete(other);
    expect(await openStreams(url)).toEqual(
      expect.arrayContaining([other.stream, again.stream].map((stream) => ({ stream }))),
    );
    expect(await openStreams(url)).toHaveLength(2);
  });

  it('a killed process is never registered if it had not joined', async () => {
    const url = await newDatabase();
    const one = await start(url);
    await kill(url, one);
    const unjoined = new TestNode(url, { data: one.data });
    await unjoined.kill();
    await start(url, { data: one.data });
    await expect.poll(() => openStreams(url)).toHaveLength(1);
    const known = `SELECT 1 FROM fm_stream WHERE stream = $1`;
    expect(await postgres.query(known, [unjoined.stream], url)).toEqual([]);
  });

  it('a node whose directory is lost is reported until it is forgotten', async () => {
    const url = await newDatabase();
    const other = await start(url);
    const lost = await start(url, { name: 'lost' });
    await kill(url, lost);
    const age = `UPDATE fm_node SET beat_at = beat_at - interval '1 hour' WHERE name = 'lost'`;
    await postgres.query(age, [], url);
    for (const through of ['through', '0']) {
      await postgres.query(`UPDATE fm_stream SET through = ${through}`, [], url);
      expect(await readWarnings(url)).toContainEqual(
        expect.stringMatching(/Node lost has sent no heartbeat .* flagmeter postgres forget-node lost/),
      );
    }
    const session = connect(url);
    onTestFinished(() => session.close());
    await forgetNode(session, lost.spool.directory, false);
    await expectComplete(other);
  });
});

describe('a stream that the directory of a running node does not have', () => {
  it('an unknown stream without deltas is closed, and its process later ships the counts', async () => {
    const url = await newDatabase();
    const other = await start(url);
    const one = await start(url);
    const copy = await copyAfterKill(url, one);
    const stream = await runCopy(url, copy, 0);
    const again = await start(url, { data: one.data });
    await expectComplete(other);
    await expectComplete(again);
    expect(await openStreams(url)).not.toContainEqual({ stream });
    expect(logged(again, 'warn')).toContainEqual(expect.stringContaining('closed a stream of this directory'));
    await again.stop();
    const late = new TestNode(url, { data: copy });
    late.count('f', 10);
    await late.kill();
    await expectCounts(await start(url, { data: copy }), { f: 10 });
  });

  it('an unknown stream is closed if PostgreSQL was restored to a time when the stream was in use', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const restore = await copyDatabase(url);
    const second = await restart(url, one);
    await expect.poll(() => openStreams(url)).toEqual([{ stream: second.stream }]);
    const again = await restart(url, second);
    await expect.poll(() => openStreams(url)).toEqual([{ stream: again.stream }]);
    again.session.fault = () => 'refused';
    await again.until(({ status }) => !status.postgres.connected);
    await restore();
    again.session.fault = () => undefined;
    await expect.poll(() => openStreams(url)).toEqual([{ stream: again.stream }]);
    await expectComplete(again);
  });

  it('an unknown stream with deltas is reported, and can be forgotten without stopping the node', async () => {
    const url = await newDatabase();
    const other = await start(url);
    const one = await start(url, { name: 'north' });
    const copy = await copyAfterKill(url, one);
    const stream = await runCopy(url, copy, 10);
    const again = await start(url, { data: one.data, name: 'north' });
    again.count('g', 1);
    await expectCounts(other, { f: 10, g: 1 });
    expect(logged(again, 'warn')).toContainEqual(expect.stringContaining('that is not in it'));
    expect(await openStreams(url)).toContainEqual({ stream });
    expect(await readWarnings(url)).not.toContainEqual(expect.stringContaining('forget-node north'));
    const age = `UPDATE fm_stream SET through = through - 120000 WHERE stream = $1`;
    await postgres.query(age, [stream], url);
    expect(await readWarnings(url)).toContainEqual(
      expect.stringMatching(/complete only until .* a stream of another process .* forget-node north/),
    );
    const session = connect(url);
    onTestFinished(() => session.close());
    const wanted = { continues: true, streams: [expect.objectContaining({ stream })] };
    expect(await findLoss(session, 'north', false)).toMatchObject(wanted);
    expect(await forgetNode(session, again.spool.directory, false)).toMatchObject(wanted);
    await expect(forgetNode(session, again.spool.directory, false)).rejects.toThrow('might be running');
    for (const node of [other, again]) await expectComplete(node);
    again.count('g', 2);
    await expectCounts(other, { f: 10, g: 3 });
    expect(again.told?.refuses).toBeUndefined();
  });

  it('a process does not close the stream of a copy that has taken over its directory', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const data = temporaryDirectory();
    cpSync(one.data, data, { recursive: true });
    one.session.fault = () => 'refused';
    await one.until(({ status }) => !status.postgres.connected);
    await postgres.query(`UPDATE fm_node SET beat_at = beat_at - interval '3 s'`, [], url);
    const copy = await start(url, { data });
    one.session.fault = () => undefined;
    await one.until(({ refuses }) => refuses === 'copied');
    expect(await openStreams(url)).toContainEqual({ stream: copy.stream });
    copy.count('f', 1);
    await expectCounts(copy, { f: 1 });
  });
});

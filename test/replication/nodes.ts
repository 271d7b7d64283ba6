import { afterEach, beforeAll, expect } from 'vitest';
import { LogAppender } from '../../src/replication/log.ts';
import { Postgres } from '../support/postgres.ts';
import { connect, initPostgres, TestNode, type TestNodeOptions } from './test-node.ts';

/** Nodes on databases of one PostgreSQL. They stop after each test. */
export let postgres: Postgres;
let running: TestNode[] = [];

/** Starts PostgreSQL for the tests of a file. Each file calls this function, because files can share this module. */
export function startPostgres(): void {
  beforeAll(async () => {
    postgres = await Postgres.shared();
  });

  afterEach(async () => {
    const nodes = running;
    running = [];
    await Promise.all(nodes.map((node) => node.kill()));
  });
}

export async function newDatabase(): Promise<string> {
  return (await postgres.copyOf(initPostgres)).url;
}

/** Copies the database, so that it can be restored. */
export const copyDatabase = (url: string) => postgres.copyDatabase(url);

/** Starts a node that stops after the test. */
export function begin(url: string, options?: TestNodeOptions): TestNode {
  const node = new TestNode(url, options);
  running.push(node);
  node.node.start();
  return node;
}

/** Starts a node, and waits until it has joined or was refused. */
export async function start(url: string, options?: TestNodeOptions): Promise<TestNode> {
  const node = begin(url, options);
  await node.until(({ isJoined, refusal }) => isJoined || refusal !== undefined);
  return node;
}

/** Excludes a node from the cleanup after the test, because the test stops the node. */
export function ended(node: TestNode): void {
  running = running.filter((each) => each !== node);
}

/** Stops a node like a process that was killed some seconds ago. */
export async function kill(url: string, node: TestNode): Promise<void> {
  ended(node);
  await node.kill();
  const before = `UPDATE fm_node SET beat_at = beat_at - interval '3 s' WHERE directory = $1`;
  await postgres.query(before, [node.spool.directory], url);
}

/** Kills a node, and starts the next process on its directory. */
export async function restart(url: string, node: TestNode, options?: TestNodeOptions): Promise<TestNode> {
  await kill(url, node);
  return start(url, { ...options, data: node.data });
}

/** Closes the streams of a node, as `flagmeter postgres forget-node` does. */
export async function closeStreams(url: string, { spool }: TestNode): Promise<void> {
  const close = `UPDATE fm_stream SET state = 'forgotten' WHERE directory = $1 AND state = 'open'`;
  await postgres.query(close, [spool.directory], url);
}

/** Resolves when the reports of a node have the wanted counts. */
export async function expectCounts(node: TestNode, wanted: Record<string, number>): Promise<void> {
  await expect
    .poll(
      async () => {
        await node.node.freshen().catch(() => {});
        return node.counts();
      },
      { interval: 50 },
    )
    .toEqual(wanted);
}

export const logged = (node: TestNode, level: string) =>
  node.lines.filter((line) => line.level === level).map(({ msg }) => msg);

/** Replaces the database by an empty database of the same name. */
export const lose = (url: string) => postgres.emptyDatabase(url);

/** Appends a horizon entry, as a node does every half minute. */
export async function horizon(url: string): Promise<void> {
  const session = connect(url);
  await new LogAppender(session).horizon(0);
  await session.close();
}

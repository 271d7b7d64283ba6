import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createPackets, ingestMix } from '../../src/bench/load/packets.ts';
import { Spool } from '../../src/replication/spool.ts';
import { createSpoolAggregator } from '../../src/replication/spool-aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { EnvironmentSeries } from '../../src/storage/commit/series-dictionary.ts';
import { bucketWidth, encodeBucket } from '../../src/storage/lmdb/blocks.ts';
import { freshDirectory, stop } from '../../test/support/binary.ts';
import { BenchReplica, cells, names } from '../cluster-replica.ts';
import { median } from '../numbers.ts';
import { sendPackets } from '../service.ts';
import { type Figure, told } from './figure.ts';
import { OtherNode } from './other-node.ts';
import type { Stage, StagedPostgres } from './stage.ts';

interface Options {
  readonly small: boolean;
  readonly seconds: number;
}

/** Capacity of a node, of the log, and of PostgreSQL. Rates are per thread or session, with durable commits. */
interface Inputs {
  readonly packets: number;
  readonly sealed: number;
  readonly applied: number;
  /** Rate of all nodes together. */
  readonly appended: number;
  readonly bytesOfCell: number;
  readonly walOfCell: number;
  readonly walOfDelta: number;
  /** Bytes of WAL per second that an idle node causes. */
  readonly walOfNode: number;
}

const series = 10_000;
const cellsOfDelta = 1000;
const appenders = 4;
/** Cells per second that each node ships if 10 000 series are all active every 5 seconds. */
const load = 2000;
const firstMinute = 29_000_000;

/** Measures the capacity of a node, and calculates from it the capacity of 2, 4 and 10 nodes. */
export async function limits(stage: Stage, { small, seconds }: Options): Promise<Figure[]> {
  const rounds = small ? 1 : 20;
  const inputs = { ...(await ofNode(stage, seconds)), ...(await ofLog(stage, rounds)), ...(await ofThreads(rounds)) };
  return [
    told('packets/s of a node', inputs.packets),
    told('cells/s that a node seals', inputs.sealed),
    told('cells/s that a node applies', inputs.applied),
    told(`cells/s that ${appenders} sessions append to the log`, inputs.appended),
    told('bytes of a cell in the log', inputs.bytesOfCell, 'B'),
    told('WAL of a delta of one cell', inputs.walOfDelta, 'B'),
    told('WAL of a cell in a delta of 1 000', inputs.walOfCell, 'B'),
    told('WAL of a node without packets', inputs.walOfNode / 1000, 'kB/s'),
    ...[2, 4, 10].flatMap((nodes) => calculated(nodes, inputs)),
  ];
}

function calculated(nodes: number, inputs: Inputs): Figure[] {
  const { packets, sealed, applied, appended, bytesOfCell, walOfCell, walOfDelta, walOfNode } = inputs;
  const each = { sealing: sealed, applying: applied / nodes, 'the log': appended / nodes };
  const [what, most] = Object.entries(each).reduce((least, next) => (next[1] < least[1] ? next : least));
  const wal = nodes * (walOfNode + walOfDelta + load * walOfCell);
  const of = `calculated, ${nodes} nodes:`;
  return [
    told(`${of} packets/s`, nodes * packets),
    told(`${of} cells/s of each node, until ${what} is the limit`, most),
    told(`${of} applied by each node at ${load} cells/s of each`, (nodes * load * bytesOfCell) / 1000, 'kB/s'),
    told(`${of} share of the thread that applies at that rate`, (nodes * load) / applied),
    told(`${of} WAL then`, wal / 1000, 'kB/s'),
  ];
}

async function ofNode(stage: Stage, seconds: number): Promise<Pick<Inputs, 'packets' | 'walOfNode'>> {
  const cluster = await stage.cluster();
  const node = await cluster.node();
  const plan = { connections: 64, seconds, warmupSeconds: seconds / 5 };
  const { rps } = await sendPackets(node.http, createPackets(ingestMix, node.key), plan);
  await Bun.sleep(3000); // During the pause, the node ships all of its counts.
  const each: number[] = [];
  for (let second = 0; second < 3 * seconds; second += 1) {
    const before = await wal(cluster);
    await Bun.sleep(1000);
    each.push((await wal(cluster)) - before);
  }
  await stop(node);
  // The median is not affected by a single second in which a checkpoint causes full-page writes.
  return { packets: rps, walOfNode: median(each) };
}

async function ofLog(stage: Stage, rounds: number) {
  const cluster = await stage.cluster();
  const nodes = Array.from({ length: appenders }, () => new OtherNode(cluster.url));
  for (const node of nodes) await node.start();
  const [one] = nodes as [OtherNode];
  const small = await shipped(cluster, [one], rounds * 5, 1);
  const large = await shipped(cluster, nodes, rounds, cellsOfDelta);
  for (const node of nodes) await node.end();
  return {
    appended: large.cellsPerSecond,
    bytesOfCell: large.bytes / large.cells,
    walOfCell: large.wal / large.cells,
    walOfDelta: small.wal / small.cells,
  };
}

/** Ships deltas of a given number of cells from all nodes at the same time. Each delta has its own commit. */
async function shipped(cluster: StagedPostgres, nodes: readonly OtherNode[], rounds: number, size: number) {
  const sealed = nodes.map((node) =>
    Array.from({ length: rounds + 1 }, (_, at) => node.seal(cells((at * size) % series, size, [firstMinute + at]))),
  );
  await cluster.query('CHECKPOINT'); // The checkpoint makes the number of full-page writes the same in each run.
  for (const [at, node] of nodes.entries()) await node.ship(sealed[at]!.splice(0, 1));
  const before = await wal(cluster);
  const begun = performance.now();
  await Promise.all(nodes.map((node, at) => node.ship(sealed[at]!, 1)));
  const took = (performance.now() - begun) / 1000;
  const count = sealed.flat().length * size;
  const bytes = sealed.flat().reduce((sum, { body }) => sum + body.length, 0);
  return { cells: count, cellsPerSecond: count / took, bytes, wal: (await wal(cluster)) - before };
}

async function wal(cluster: StagedPostgres): Promise<number> {
  const [row] = await cluster.query<{ bytes: string }>("SELECT pg_current_wal_lsn() - '0/0' AS bytes");
  return Number(row!.bytes);
}

async function ofThreads(rounds: number): Promise<Pick<Inputs, 'sealed' | 'applied'>> {
  const replica = new BenchReplica(join(freshDirectory(), 'replica'));
  replica.apply([replica.entry({ series: names(series) })]);
  const entries = Array.from({ length: rounds * 10 }, (_, at) =>
    replica.entry(cells((at * cellsOfDelta) % series, cellsOfDelta, [firstMinute + Math.floor(at / 10)])),
  );
  const { ms } = replica.timed(entries);
  await replica.store.lmdb.close();
  return { applied: (entries.length * cellsOfDelta * 1000) / ms, sealed: await sealedPerSecond(rounds) };
}

/** Measures how fast deltas are sealed without interruption. A real node would also count cells during this time. */
async function sealedPerSecond(rounds: number): Promise<number> {
  const spool = new Spool(join(freshDirectory(), 'spool'), randomUUID);
  const limitsOfNames = { features: series, variants: 64, metrics: 100 };
  const known = new EnvironmentSeries(1, limitsOfNames, []);
  const watermark = { at: Date.now(), applied: 0, version: 1 };
  const stream = randomUUID();
  const aggregator = createSpoolAggregator(spool.store, { stream, watermark, maxIdentities: 1000 });
  let took = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const batch = new Batch();
    const bucket = encodeBucket(bucketWidth.minute, firstMinute + round);
    for (let at = 0; at < series; at += 1) {
      batch.counts.add(known.variant(`feature-${at >> 3}`, `v${at % 8}`, batch)!, bucket, at % 1000, 1, 0);
    }
    aggregator.write(batch.seal());
    const begun = performance.now();
    while (!aggregator.seal({ watermark }).done);
    if (round > 0) took += performance.now() - begun; // The first round also ships the names.
  }
  await spool.store.lmdb.close();
  return (rounds * series * 1000) / took;
}

import { join } from 'node:path';
import { makeSnapshot, trimLogs } from '../../src/replication/log-upkeep.ts';
import { freshDirectory, stop, usage } from '../../test/support/binary.ts';
import { note } from '../benchmark.ts';
import { BenchReplica, cells, names } from '../cluster-replica.ts';
import type { Service } from '../service.ts';
import { atMost, type Figure, told } from './figure.ts';
import { follow, OtherNode, silentLog } from './other-node.ts';
import { type Stage, type StagedPostgres, until } from './stage.ts';

const others = 2;

/**
 * Measures how a node catches up after it was away for a day. During this day, two other nodes each counted one cell
 * per series and minute. Cells older than an hour are in a snapshot. The last hour is in the log, in one delta per
 * second from each node.
 */
export async function away(
  stage: Stage,
  { small, series }: { readonly small: boolean; readonly series: number },
): Promise<Figure[]> {
  const hours = small ? 2 : 24;
  const cluster = await stage.cluster();
  const { data, ...before } = await cluster.node();
  await stop(before);
  const minutes = Math.floor(Date.now() / 60_000) - hours * 60;
  const perMinute = small ? 1 : 60;
  const megabytes = await writeDay(cluster, { series, hours, firstMinute: minutes, perMinute });
  const begun = performance.now();
  const node = await cluster.node([], cluster.url, data);
  const managing = (performance.now() - begun) / 1000;
  await until(() => hasAll(node, series - 1, hours * 60 * others), 'the node has the counts of the day', 20);
  const complete = (performance.now() - begun) / 1000;
  await stop(node);
  const what = `${hours} hours of ${series} series from ${others} nodes`;
  return [
    atMost(`${what}: from the startup of the node to complete reports`, complete, 15, 's'),
    told('until the node serves management requests', managing, 's'),
    told('MB of the snapshot', megabytes.snapshot, 'MB'),
    told('MB of the log since the snapshot', megabytes.log, 'MB'),
  ];
}

interface Day {
  readonly series: number;
  readonly hours: number;
  readonly firstMinute: number;
  /** Number of deltas per minute of the last hour. */
  readonly perMinute: number;
}

/** Writes a day to PostgreSQL: all hours except the last hour as a snapshot, and the last hour as log entries. */
async function writeDay(cluster: StagedPostgres, { series, hours, firstMinute, perMinute }: Day) {
  const nodes = Array.from({ length: others }, () => new OtherNode(cluster.url));
  const [{ session }] = nodes as [OtherNode];
  const replica = new BenchReplica(join(freshDirectory(), 'replica'));
  for (const node of nodes) {
    await node.start();
    await node.ship([node.seal({ series: names(series) })]);
    for (let hour = 0; hour < hours - 1; hour += 1)
      await node.ship(hourBySeries(node, series, firstMinute + hour * 60));
    note(`${hours - 1} hours of a node are in the log`);
  }
  await follow(session, replica.replica);
  const services = { session, replica: replica.replica, directory: 'bench', log: silentLog, leastBytes: 0 };
  if (!(await makeSnapshot(services))) throw new Error('no snapshot was made');
  await cluster.query("UPDATE fm_entry SET at = at - interval '61 min'");
  await trimLogs(session);
  for (const node of nodes) {
    await node.ship(hourInLog(node, series, firstMinute + (hours - 1) * 60, perMinute));
    await node.end();
  }
  await replica.store.lmdb.close();
  const [row] = await cluster.query<{ snapshot: string; log: string }>(
    `SELECT (SELECT sum(octet_length(body)) FROM fm_snapshot_part) AS snapshot,
       (SELECT sum(octet_length(body)) FROM fm_entry) AS log`,
  );
  return { snapshot: Number(row!.snapshot) / 1e6, log: Number(row!.log) / 1e6 };
}

/**
 * Returns deltas for a snapshot, each with all minutes of a few series. A snapshot does not depend on the division into
 * deltas.
 */
function hourBySeries(node: OtherNode, series: number, firstMinute: number) {
  const minutes = Array.from({ length: 60 }, (_, minute) => firstMinute + minute);
  return Array.from({ length: Math.ceil(series / 16) }, (_, at) =>
    node.seal(cells(at * 16, Math.min(16, series - at * 16), minutes)),
  );
}

/** Returns deltas as a node ships them. The deltas of a minute divide the series among them. */
function hourInLog(node: OtherNode, series: number, firstMinute: number, perMinute: number) {
  const each = Math.ceil(series / perMinute);
  return Array.from({ length: 60 * perMinute }, (_, at) => {
    const from = (at % perMinute) * each;
    const minute = firstMinute + Math.floor(at / perMinute);
    return node.seal(cells(from, Math.max(0, Math.min(each, series - from)), [minute]));
  });
}

/** True if the reports contain the counts of the last series in each minute, from each node. */
async function hasAll(node: Service, ordinal: number, wanted: number): Promise<boolean> {
  const feature = `feature-${Math.floor(ordinal / 8)}`;
  const query = { environment: 'Production', step: 'day', feature } as const;
  const span = { from: floorToDay(Date.now() - 86_400_000 * 2), to: floorToDay(Date.now() + 86_400_000) };
  const report = await usage(node.http, node.accessToken, node.applicationId, { ...query, ...span }).catch(
    () => undefined,
  );
  const found = report?.features[0]?.variants.find(({ variant }) => variant === `v${ordinal % 8}`);
  return found?.viewed === wanted * (ordinal % 53);
}

function floorToDay(ms: number): Date {
  return new Date(Math.floor(ms / 86_400_000) * 86_400_000);
}

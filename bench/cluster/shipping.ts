import { stop } from '../../test/support/binary.ts';
import { load } from '../load.ts';
import { cpuSeconds } from '../process-stats.ts';
import { type Service, sendRequests } from '../service.ts';
import { atMost, type Figure, told } from './figure.ts';
import { packetsFor } from './many-series.ts';
import { type Stage, type StagedPostgres, until } from './stage.ts';

interface Costs {
  readonly cpu: number;
  readonly slowestMs: number;
}

/**
 * Measures how much shipping costs a node whose 10 000 series are all active every 5 seconds. Compares it with a server
 * that ships nothing.
 */
export async function shipping(
  stage: Stage,
  { series, seconds }: { readonly series: number; readonly seconds: number },
): Promise<Figure[]> {
  const cluster = await stage.cluster();
  const single = await stage.single();
  const node = await cluster.node();
  const visible = await untilVisible(cluster, node, series);
  const alone = await measure(single, series, seconds);
  const within = await measure(node, series, seconds);
  await Promise.all([stop(single), stop(node)]);
  return [
    atMost(`CPU of shipping ${series} series every 5 s`, (within.cpu - alone.cpu) * 100, 3, '% of a core'),
    atMost('increase of the event loop delay by shipping', Math.max(0, within.slowestMs - alone.slowestMs), 5, 'ms'),
    atMost(`duration of PostgreSQL's commits for ${series} cells`, visible.commitMs, 100, 'ms'),
    told(`from the last response until ${series} cells are in PostgreSQL`, visible.shippedMs, 'ms'),
    told(`bytes per cell in the log`, visible.bytes / series, 'B'),
  ];
}

async function measure(service: Service, series: number, seconds: number): Promise<Costs> {
  const requests = packetsFor(series, service.key, service.http);
  const [host, port] = service.http.split(':') as [string, string];
  const before = cpuSeconds(service.pid);
  const [, health] = await Promise.all([
    sendRequests(service.http, requests, { connections: 4, seconds, warmupSeconds: 0, rate: requests.length / 5 }),
    load({
      host,
      port: Number(port),
      connections: 1,
      seconds,
      warmupSeconds: 1,
      rate: 200,
      status: 200,
      requests: [`GET /healthz HTTP/1.1\r\nHost: ${service.http}\r\n\r\n`],
    }),
  ]);
  return { cpu: (cpuSeconds(service.pid) - before) / seconds, slowestMs: health.p99 };
}

/** Measures the time until a delta with all series has reached PostgreSQL. */
async function untilVisible(cluster: StagedPostgres, node: Service, series: number) {
  const requests = packetsFor(series, node.key, node.http);
  // These requests make the node ship the names first, so that the measured delta contains only counts.
  await sendRequests(node.http, requests, { connections: 8, seconds: 60, warmupSeconds: 0, limit: requests.length });
  await untilShipped(cluster);
  const [before] = await cluster.query<{ position: string }>("SELECT position FROM fm_head WHERE log = 'data'");
  const commitsBefore = await commitSeconds(node);
  await sendRequests(node.http, requests, { connections: 8, seconds: 60, warmupSeconds: 0, limit: requests.length });
  const answered = performance.now();
  const shippedMs = (await untilShipped(cluster)) - answered;
  const commitMs = ((await commitSeconds(node)) - commitsBefore) * 1000;
  const [head] = await cluster.query<{ bytes: string }>(
    `SELECT sum(octet_length(body)) AS bytes FROM fm_entry WHERE kind = 'delta' AND position > ${before!.position}`,
  );
  return { shippedMs, commitMs, bytes: Number(head!.bytes) };
}

/** Waits until no more entries arrive. @returns arrival time of the last entry (`performance.now()`) */
export async function untilShipped(cluster: StagedPostgres): Promise<number> {
  let last = '';
  let same = 0;
  let at = 0;
  await until(
    async () => {
      const [row] = await cluster.query<{ now: string }>(
        `SELECT concat(sum(octet_length(body)) FILTER (WHERE kind = 'delta'), ' ', (SELECT max(oldest_unshipped) FROM fm_node)) AS now
         FROM fm_entry`,
      );
      same = row!.now === last ? same + 1 : 0;
      if (same === 0) at = performance.now();
      last = row!.now;
      return same >= 80 && last.endsWith(' ');
    },
    'all counts are shipped',
    25,
  );
  return at;
}

async function commitSeconds({ http }: Service): Promise<number> {
  const text = await (await fetch(`http://${http}/metrics`)).text();
  return Number(/^flagmeter_engine_commit_seconds_total (\S+)/m.exec(text)?.[1] ?? Number.NaN);
}

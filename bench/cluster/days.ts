import { requestText } from '../../src/bench/load/packets.ts';
import { createKey, stop } from '../../test/support/binary.ts';
import { call, openClient } from '../../test/support/grpc-call.ts';
import { encode } from '../../test/support/report-messages.ts';
import { cpuSeconds } from '../process-stats.ts';
import { type Service, sendRequests } from '../service.ts';
import { atMost, type Figure, told } from './figure.ts';
import { untilShipped } from './shipping.ts';
import { type Stage, type StagedPostgres, until } from './stage.ts';

const variants = 10;
const featuresOfReport = 100;
const dayMs = 86_400_000;

/** Measures how expensive it is to write a day of many series to the SQL tables, and how this affects packets. */
export async function days(stage: Stage, { series }: { readonly series: number }): Promise<Figure[]> {
  const cluster = await stage.cluster();
  const node = await cluster.node();
  await report(node, series, new Date(Date.now() - dayMs));
  await untilShipped(cluster);
  await untilWritten(cluster, series);
  const quiet = await packets(node, 10);
  const cpuBefore = cpuSeconds(node.pid);
  await cluster.query(`UPDATE fm_day SET position = 0; DELETE FROM fm_daily;
    UPDATE fm_export SET position = 0, day = '1970-01-01', holder = '', until = now()`);
  const [busy, seconds] = await Promise.all([packets(node, 45), untilWritten(cluster, series)]);
  const cpu = cpuSeconds(node.pid) - cpuBefore;
  const [size] = await cluster.query<{ bytes: string }>(
    `SELECT pg_total_relation_size('fm_daily') / greatest(count(*), 1) AS bytes FROM fm_daily`,
  );
  await stop(node);
  return [
    told(`writing a day of ${series} series`, seconds, 's'),
    told('bytes of a row with its index', Number(size!.bytes), 'B'),
    told('CPU of the node during the write, with 200 packets a second', cpu, 's'),
    told('p99 of packets before', quiet, 'ms'),
    atMost('increase of the p99 of packets during the write', Math.max(0, busy - quiet), 20, 'ms'),
  ];
}

async function report(node: Service, series: number, time: Date): Promise<void> {
  const { key: appKey } = await createKey(node.http, node.accessToken, node.applicationId, 'Backend');
  const client = openClient(node.grpc);
  const counts = Object.fromEntries(
    Array.from({ length: variants }, (_, at) => [`variant-${at}`, { checkCount: at + 1 }]),
  );
  const features = Array.from({ length: Math.ceil(series / variants) }, (_, at) => `feature-${at}`);
  for (let at = 0; at < features.length; at += featuresOfReport) {
    const stats = features.slice(at, at + featuresOfReport).map((feature) => ({ feature, variantStats: counts }));
    const message = encode('Usage.FeatureStat', { appKey, environment: 'Production', time: time.toISOString(), stats });
    const { code, details } = await call(client, '/Usage.Usage/SendStats', message);
    if (code !== 0) throw new Error(`A report was refused: ${details}`);
  }
  client.close();
}

/** Waits until all rows are written. @returns seconds from the first row to the last row */
async function untilWritten(cluster: StagedPostgres, series: number): Promise<number> {
  let began = 0;
  const written = async () => {
    const [row] = await cluster.query<{ rows: string; days: string }>(
      `SELECT (SELECT count(*) FROM fm_daily WHERE variant <> '') AS rows,
         (SELECT count(*) FROM fm_day WHERE position > 0) AS days`,
    );
    if (Number(row!.rows) > 0 && began === 0) began = performance.now();
    return Number(row!.rows) === series && Number(row!.days) === 1;
  };
  await until(written, 'the day is written', 200);
  return (performance.now() - began) / 1000;
}

/** Sends packets. @returns the 99th percentile of their response times, ms */
async function packets({ http, key }: Service, seconds: number): Promise<number> {
  const body = JSON.stringify({ k: key, e: 'Production', f: { checkout: { on: [1] } } });
  const request = requestText({ body, counts: new Map() }, http);
  const plan = { connections: 4, seconds, warmupSeconds: 1, rate: 200 };
  return (await sendRequests(http, [request], plan)).p99;
}

import { createPackets, ingestMix } from '../../src/bench/load/packets.ts';
import { createKey, stop, usage } from '../../test/support/binary.ts';
import { noteErrors } from '../benchmark.ts';
import { load } from '../load.ts';
import { sendPackets } from '../service.ts';
import { atLeast, atMost, type Figure, told } from './figure.ts';
import { untilShipped } from './shipping.ts';
import { type Stage, until } from './stage.ts';

const featuresInReport = 500;

/**
 * Measures an hour without PostgreSQL, in which one cell per series and minute is counted. Then measures how the
 * backlog is shipped while counting continues.
 */
export async function backlog(
  stage: Stage,
  { series, minutes }: { readonly series: number; readonly minutes: number },
): Promise<Figure[]> {
  const cluster = await stage.cluster();
  const node = await cluster.node();
  const { key } = await createKey(node.http, node.accessToken, node.applicationId, 'Backend');
  await untilShipped(cluster);
  await stage.postgres.stop();
  const begin = Math.floor(Date.now() / 60_000) * 60_000 - minutes * 60_000;
  await send(node.http, reports(series, minutes, begin, key, node.http));
  await stage.postgres.start();
  const back = performance.now();
  const counting = sendPackets(node.http, createPackets(ingestMix, node.key), {
    connections: 16,
    seconds: 10,
    warmupSeconds: 0,
    rate: 1000,
  });
  const query = {
    environment: 'Production',
    step: 'hour',
    feature: `old-${series / 2 - 1}`,
    from: new Date(begin - 3_600_000 - (begin % 3_600_000)),
    to: new Date(begin + 3 * 3_600_000 - (begin % 3_600_000)),
  } as const;
  const isWhole = async () => {
    const report = await usage(node.http, node.accessToken, node.applicationId, query).catch(() => undefined);
    return report?.features[0]?.checks === 2 * minutes;
  };
  await until(isWhole, 'the reports include the backlog', 50);
  const seconds = (performance.now() - back) / 1000;
  const { rps } = await counting;
  await stop(node);
  return [
    atMost(`${series * minutes} cells from the return of PostgreSQL to the reports`, seconds, 15, 's'),
    atLeast('packets/s accepted during the return, at 1 000 packets/s sent', rps, 990),
    told('MB of these cells in the log', await megabytes(cluster), 'MB'),
  ];
}

async function megabytes(cluster: { query<Row extends object>(text: string): Promise<Row[]> }): Promise<number> {
  const [row] = await cluster.query<{ bytes: string }>('SELECT sum(octet_length(body)) AS bytes FROM fm_entry');
  return Number(row!.bytes) / 1e6;
}

/** Returns usage reports for each minute. Each report contains the time of its counts. */
function reports(series: number, minutes: number, begin: number, appKey: string, http: string): string[] {
  const features = series / 2;
  return Array.from({ length: minutes }, (_, minute) => {
    const time = new Date(begin + minute * 60_000).toISOString();
    return Array.from({ length: Math.ceil(features / featuresInReport) }, (_, part) => {
      const stats = Array.from({ length: featuresInReport }, (_, at) => ({
        feature: `old-${part * featuresInReport + at}`,
        variantStats: { on: { checkCount: 1 }, off: { checkCount: 1 } },
      }));
      const body = JSON.stringify({ appKey, environment: 'Production', time, stats });
      const head = `POST /api/usage/stats HTTP/1.1\r\nHost: ${http}\r\nContent-Type: application/json`;
      return `${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    });
  }).flat();
}

async function send(http: string, requests: readonly string[]): Promise<void> {
  const [host, port] = http.split(':') as [string, string];
  const plan = { host, port: Number(port), connections: 8, seconds: 600, warmupSeconds: 0, status: 200 };
  const { errors } = await load({ ...plan, requests, limit: requests.length });
  noteErrors(http, errors);
}

import { stop } from '../../test/support/binary.ts';
import { noteErrors } from '../benchmark.ts';
import { measureControl } from '../cluster-control.ts';
import { type LoadPlan, type LoadReport, load } from '../load.ts';
import { median } from '../numbers.ts';
import type { Service } from '../service.ts';
import { atLeast, atMost, type Figure, told } from './figure.ts';
import { slowLink } from './slow-link.ts';
import type { Stage } from './stage.ts';

interface Options {
  readonly seconds: number;
  readonly rounds: number;
}

/** Requests with a bearer token: each waits until the node is sure to be current. */
export async function bearers(stage: Stage, options: Options): Promise<Figure[]> {
  const engine = await stage.engine();
  const node = await engine.node();
  const near = await repeat(options, node);
  await stop(node);
  const link = await slowLink(stage.postgres.port, 1);
  const far = await engine.node([], engine.url.replace(/:\d+\//, `:${link.port}/`));
  const slow = await repeat(options, far);
  await stop(far);
  link.close();
  return [
    atLeast('bearer requests/s, 64 connections', median(near.map(({ rps }) => rps)), 15_000),
    atMost('p99 of them', median(near.map(({ p99 }) => p99)), 10, 'ms'),
    atLeast('bearer requests/s, the engine 2 ms away', median(slow.map(({ rps }) => rps)), 8_000),
  ];
}

async function repeat({ seconds, rounds }: Options, service: Service): Promise<LoadReport[]> {
  const request = `GET /api/v2/users/me HTTP/1.1\r\nHost: ${service.http}\r\nAuthorization: Bearer ${service.accessToken}\r\n\r\n`;
  const reports: LoadReport[] = [];
  for (let turn = 0; turn < rounds; turn += 1)
    reports.push(await drive(service, [request], { connections: 64, seconds, warmupSeconds: seconds / 5 }));
  return reports;
}

/** Changes of accounts by two nodes at once, each of which has 16 callers that wait. */
export async function changes(stage: Stage, { seconds }: Options): Promise<Figure[]> {
  const { url } = await stage.engine();
  const measured = await measureControl(url, { seconds });
  return [
    atLeast('changes of accounts/s, two nodes, 16 callers each', measured.changes.perSecond, 5_000),
    atMost('p99 of a change', measured.changes.p99, 20, 'ms'),
    told('confirmed reads/s of a node, 64 callers', measured.reads.perSecond),
    told('the same beside 200 changes/s', measured.readsWithChanges.perSecond),
  ];
}

async function drive(
  { http }: Service,
  requests: readonly string[],
  plan: Omit<LoadPlan, 'host' | 'port' | 'status' | 'requests'>,
): Promise<LoadReport> {
  const [host, port] = http.split(':') as [string, string];
  const report = await load({ ...plan, host, port: Number(port), requests, status: 200 });
  noteErrors(http, report.errors);
  return report;
}

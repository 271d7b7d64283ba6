import type { HttpPlan, LoadReport } from '../../src/bench/load/plan.ts';
import { manage, stop } from '../../test/support/binary.ts';
import { note, noteErrors } from '../benchmark.ts';
import { openControl, type RateMeasurement } from '../cluster-control.ts';
import { load } from '../load.ts';
import { median } from '../numbers.ts';
import type { Service } from '../service.ts';
import { atLeast, atMost, type Figure, told } from './figure.ts';
import { slowLink } from './slow-link.ts';
import type { Stage } from './stage.ts';

interface Options {
  readonly seconds: number;
  readonly rounds: number;
}

/** Measures requests with a bearer token. Each request waits until the node has confirmed its account data. */
export async function bearers(stage: Stage, options: Options): Promise<Figure[]> {
  const cluster = await stage.cluster();
  const node = await cluster.node();
  const near = await repeat(options, node);
  await stop(node);
  const link = await slowLink(stage.postgres.port, 1);
  const far = await cluster.node([], cluster.url.replace(/:\d+\//, `:${link.port}/`));
  const slow = await repeat(options, far);
  await stop(far);
  link.close();
  return [
    atLeast('bearer requests/s, 64 connections', median(near.map(({ rps }) => rps)), 15_000),
    atMost('p99 of these requests', median(near.map(({ p99 }) => p99)), 10, 'ms'),
    atLeast('bearer requests/s, PostgreSQL 2 ms away', median(slow.map(({ rps }) => rps)), 8_000),
  ];
}

async function repeat({ seconds, rounds }: Options, service: Service): Promise<LoadReport[]> {
  const request = `GET /api/v2/users/me HTTP/1.1\r\nHost: ${service.http}\r\nAuthorization: Bearer ${service.accessToken}\r\n\r\n`;
  const reports: LoadReport[] = [];
  for (let turn = 0; turn < rounds; turn += 1)
    reports.push(await drive(service, [request], { connections: 64, seconds, warmupSeconds: seconds / 5 }));
  return reports;
}

/**
 * Measures changes of accounts by two nodes at the same time, in process and over HTTP. Each node has 16 concurrent
 * callers.
 */
export async function changes(stage: Stage, options: Options): Promise<Figure[]> {
  const cluster = await stage.cluster();
  const nodes = [await cluster.node(), await cluster.node()] as const;
  await declareFeatures(nodes[0]);
  const control = await openControl((await stage.cluster()).url, options);
  const reads = await control.reads();
  const beside = await control.readsWithChanges();
  const inProcess: RateMeasurement[] = [];
  const afterReads: RateMeasurement[] = [];
  const overHttp: RateMeasurement[] = [];
  const features: RateMeasurement[] = [];
  const crowded: RateMeasurement[] = [];
  for (let turn = 0; turn < options.rounds; turn += 1) {
    inProcess.push(await control.changes());
    afterReads.push(await control.changesAfterReads());
    overHttp.push(await changeOverHttp(nodes, options, applicationPatch));
    features.push(await changeOverHttp(nodes, options, featurePatch));
    crowded.push(await changeOverHttp(nodes, options, applicationPatch, 128));
    const [alone, read, http, feature] = [inProcess, afterReads, overHttp, features].map(
      (all) => all.at(-1)!.perSecond,
    );
    note(
      `round ${turn + 1}: ${alone} changes/s, after reads ${read}/s, over HTTP ${http}/s, changes of features ${feature}/s`,
    );
  }
  await Promise.all([...nodes.map((node) => stop(node)), control.close()]);
  const rate = (all: readonly RateMeasurement[]) => median(all.map(({ perSecond }) => perSecond));
  const p50 = (all: readonly RateMeasurement[]) => median(all.map((each) => each.p50));
  const share = (of: readonly RateMeasurement[]) =>
    median(of.map(({ perSecond }, turn) => perSecond / inProcess[turn]!.perSecond));
  return [
    atLeast('changes/s in process, two nodes, 16 callers each', rate(inProcess), 5_000),
    atMost('p99 of these changes', median(inProcess.map(({ p99 }) => p99)), 20, 'ms'),
    told('p50 of these changes', p50(inProcess), 'ms'),
    told('changes/s in process, each after a confirmed read', rate(afterReads)),
    told('changes/s over HTTP, settings of an application', rate(overHttp)),
    told('p50 of these changes', p50(overHttp), 'ms'),
    told('changes/s over HTTP, descriptions of features', rate(features)),
    told('changes/s over HTTP, settings of an application, 128 callers each', rate(crowded)),
    told('ratio of changes after a confirmed read to changes without a read', share(afterReads)),
    told('ratio of changes over HTTP to changes in process', share(overHttp)),
    told('confirmed reads/s of a node, 64 callers', reads.perSecond),
    told('confirmed reads/s of a node during 200 changes/s', beside.perSecond),
  ];
}

const patches = 32;

async function declareFeatures({ http, accessToken, applicationId }: Service): Promise<void> {
  for (let at = 0; at < patches; at += 1)
    await manage(http, accessToken, 'POST', `/api/v2/applications/${applicationId}/features`, 201, {
      name: `feature-${at}`,
    });
}

type Patch = (turn: number) => readonly [path: string, body: object];

const applicationPatch: Patch = (turn) => ['', { rate: turn }];
const featurePatch: Patch = (turn) => [`/features/feature-${turn}`, { description: `The ${turn}.` }];

/** Sends changes to all nodes at the same time. */
async function changeOverHttp(
  nodes: readonly Service[],
  { seconds }: Options,
  patch: Patch,
  connections = 16,
): Promise<RateMeasurement> {
  const reports = await Promise.all(
    nodes.map((node) =>
      drive(
        node,
        Array.from({ length: patches }, (_, turn) => patchRequest(node, ...patch(turn))),
        { connections, seconds, warmupSeconds: seconds / 5 },
      ),
    ),
  );
  const perSecond = Math.round(reports.reduce((sum, { rps }) => sum + rps, 0));
  const mean = (of: (report: LoadReport) => number) => (of(reports[0]!) + of(reports[1]!)) / 2;
  return { perSecond, p50: mean(({ p50 }) => p50), p99: mean(({ p99 }) => p99) };
}

function patchRequest({ http, accessToken, applicationId }: Service, path: string, body: object): string {
  const text = JSON.stringify(body);
  const head = `PATCH /api/v2/applications/${applicationId}${path} HTTP/1.1\r\nHost: ${http}`;
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}`;
  return `${head}\r\nAuthorization: Bearer ${accessToken}\r\n${type}\r\n\r\n${text}`;
}

async function drive(
  { http }: Service,
  requests: readonly string[],
  plan: Omit<HttpPlan, 'host' | 'port' | 'status' | 'requests'>,
): Promise<LoadReport> {
  const [host, port] = http.split(':') as [string, string];
  const report = await load({ ...plan, host, port: Number(port), requests, status: 200 });
  noteErrors(http, report.errors);
  return report;
}

import { join } from 'node:path';
import { cleanUp, createKey, manage, startProcess } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { cpuSeconds, median, round } from './figures.ts';
import { type LoadPlan, type LoadReport, load } from './load.ts';
import { type Service, startService } from './service.ts';

/** Different users that ids are minted for, in turn: after that many, minting rotates. */
const users = 20_000;

/** Durable minting against the bare HTTP engine, driven in turn by the same generator with the same bodies. */
export const mint: Benchmark = {
  summary: 'instance ids minted a second, durable, beside the bare HTTP engine (the floor)',
  usage: '[--json] [--connections 256] [--seconds 10] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 256, seconds: 10, rounds: 3 };
    const options = readOptions(args, defaults, { connections: 8, seconds: 0.25, rounds: 1 });
    try {
      const service = await startService(options.binary);
      const { key } = await createKey(service.http, service.accessToken, service.applicationId, 'Backend');
      const floor = await startProcess(process.execPath, [join(import.meta.dirname, 'floor.ts')]);
      const measured = await measure(service, key, floor.http, options);
      await verifyMint(service, key);
      print(options, measured);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<{ connections: number; seconds: number; rounds: number; json: boolean }>;

interface Measured {
  /** Full speed, a report a round. */
  readonly floor: readonly LoadReport[];
  readonly full: readonly LoadReport[];
  /** Open loop at half of the service's rate. */
  readonly half: LoadReport;
  readonly cpuUsPerMint: number;
}

async function measure(
  service: Service,
  key: string,
  floorHttp: string,
  { connections, seconds, rounds }: Options,
): Promise<Measured> {
  const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
  const floor: LoadReport[] = [];
  const full: LoadReport[] = [];
  let cpu = 0;
  for (let turn = 1; turn <= rounds; turn++) {
    const bare = await sendMints(floorHttp, key, { ...plan, status: 202 });
    floor.push(bare);
    const before = cpuSeconds(service.pid);
    const durable = await sendMints(service.http, key, { ...plan, status: 200 });
    cpu += cpuSeconds(service.pid) - before;
    full.push(durable);
    note(`round ${turn}: floor ${round(bare.rps)}/s, flagmeter ${round(durable.rps)}/s`);
  }
  const rate = Math.max(1, median(full.map((run) => run.rps)) / 2);
  const half = await sendMints(service.http, key, { ...plan, status: 200, rate });
  const cpuUsPerMint = (cpu * 1e6) / full.reduce((sum, run) => sum + run.requests, 0);
  return { floor, full, half, cpuUsPerMint };
}

/** Drives a target with mint requests. Says on stderr, loudly, what was not answered as it should be. */
async function sendMints(
  http: string,
  key: string,
  plan: Omit<LoadPlan, 'host' | 'port' | 'requests'>,
): Promise<LoadReport> {
  const [host, port] = http.split(':') as [string, string];
  const requests = Array.from({ length: users }, (_, user) => requestText(http, key, user));
  const report = await load({ ...plan, host, port: Number(port), requests });
  if (Object.keys(report.errors).length > 0) {
    process.stderr.write(`NOT MINTED by ${http}: ${JSON.stringify(report.errors)}\n`);
    process.exitCode = 1;
  }
  return report;
}

/** A server's keep-alive request, as it sends one when a user signs in. */
function requestText(http: string, key: string, user: number): string {
  const body = JSON.stringify({
    identity: `user-${user}@example.com`,
    groups: ['beta', 'staff'],
    claims: { plan: 'pro', seats: user % 50, trial: false },
  });
  return [
    'POST /api/frontend/identities HTTP/1.1',
    `Host: ${http}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** Checks that what is minted is good for something. @throws {Error} when a packet with a fresh id is nobody's */
async function verifyMint(service: Service, backendKey: string): Promise<void> {
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await fetch(`http://${service.http}/api/frontend/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return answer.status === 200 ? ((await answer.json()) as { instanceId: string }) : undefined;
  };
  const identity = 'user-1@example.com';
  const minted = await post('identities', { authorization: backendKey }, { identity });
  const packet = { k: service.key, e: 'Production', f: { checkout: { on: [1] } }, i: minted?.instanceId };
  await post('telemetry', { origin: 'https://shop.example.com' }, packet);
  const path = `/api/v2/applications/${service.applicationId}/identities/${identity}/exposures?environment=Production`;
  const { exposures } = (await manage(service.http, service.accessToken, 'GET', path, 200)) as {
    exposures: unknown[];
  };
  if (exposures.length !== 1) throw new Error('a packet with a minted id was not attributed');
}

function print({ json, connections, seconds, rounds }: Options, measured: Measured): void {
  const { floor, full, half, cpuUsPerMint } = measured;
  const middle = (runs: readonly LoadReport[], field: 'rps' | 'p50' | 'p99') =>
    median(runs.map((run) => run[field]));
  const result = {
    floorRps: round(middle(floor, 'rps')),
    rps: round(middle(full, 'rps')),
    ratio: round(median(full.map((run, turn) => run.rps / (floor[turn]?.rps ?? Number.NaN))), 3),
    p50Ms: round(half.p50, 3),
    p99Ms: round(half.p99, 3),
    connections,
  };
  const latencies = (of: (field: 'p50' | 'p99') => number) => [of('p50').toFixed(2), of('p99').toFixed(2)];
  const share = (runs: readonly LoadReport[]) => `${round(median(runs.map((run) => run.cpuShare * 100)))} %`;
  show(json, result, [
    ['', 'mints/s', 'p50 ms', 'p99 ms', 'generator CPU'],
    ['floor, full speed', `${result.floorRps}`, ...latencies((field) => middle(floor, field)), share(floor)],
    ['flagmeter, full speed', `${result.rps}`, ...latencies((field) => middle(full, field)), share(full)],
    ['flagmeter, half rate', `${round(half.rps)}`, ...latencies((field) => half[field]), share([half])],
    [],
    [`ratio to the floor ${result.ratio}, ${round(cpuUsPerMint, 2)} µs CPU a mint`],
    [`${connections} connections, ${rounds} × ${seconds} s each, ${users} users`],
  ]);
}

import { join } from 'node:path';
import { cleanUp, createKey, manage, startProcess } from '../test/support/binary.ts';
import { type Benchmark, noteErrors, readOptions, show } from './benchmark.ts';
import { round } from './figures.ts';
import { type LoadPlan, type LoadReport, load } from './load.ts';
import { figuresOf, measureRounds, type RoundOptions, type Rounds, speedRows } from './rounds.ts';
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

async function measure(
  service: Service,
  key: string,
  floorHttp: string,
  { connections, seconds, rounds }: RoundOptions,
): Promise<Rounds<LoadReport>> {
  const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
  return measureRounds(
    rounds,
    (open) => sendMints(floorHttp, key, { ...plan, ...open, status: 202 }),
    (open) => sendMints(service.http, key, { ...plan, ...open, status: 200 }),
    service.pid,
  );
}

/** Drives a target with mint requests. */
async function sendMints(
  http: string,
  key: string,
  plan: Omit<LoadPlan, 'host' | 'port' | 'requests'>,
): Promise<LoadReport> {
  const [host, port] = http.split(':') as [string, string];
  const requests = Array.from({ length: users }, (_, user) => requestText(http, key, user));
  const report = await load({ ...plan, host, port: Number(port), requests });
  noteErrors(http, report.errors);
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

function print(options: RoundOptions, measured: Rounds<LoadReport>): void {
  const { json, connections, seconds, rounds } = options;
  const result = { ...figuresOf(measured), connections };
  show(json, result, [
    ...speedRows('mint', ['p50', 'p99'], measured),
    [],
    [`ratio to the floor ${result.ratio}, ${round(measured.cpuUs, 2)} µs CPU a mint`],
    [`${connections} connections, ${rounds} × ${seconds} s each, ${users} users`],
  ]);
}

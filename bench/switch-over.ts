import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cleanUp, manage, startBinary, stop, token as tokenFor, usage } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { type Service, startService } from './service.ts';

const token = `default:production.${'f'.repeat(56)}`;

/** Faults of the gateway, by the elapsed share of the run. Some responses are lost in the whole run. */
const faults = [
  { from: 0.15, to: 0.22, fault: 503 },
  { from: 0.22, to: 0.3, fault: 429 },
  { from: 0.3, fault: 'unreachable', seconds: 20 },
] as const;
const lostResponses = 0.1;

/** Restarts of the server, with and without a clean stop, by the elapsed share of the run. */
const restarts = [
  { at: 0.75, signal: 'SIGTERM' },
  { at: 0.85, signal: 'SIGKILL' },
] as const;

interface Run {
  /** Time at which all services had registered, Unix ms. */
  begun: number;
  /** Names of the services that have registered so far. */
  readonly registered: Set<string>;
  readonly services: number;
  readonly seconds: number;
  /** Address of the server. */
  http: string;
  readonly results: Map<string, number>;
}

/**
 * Moves services with the published SDK of Unleash to flagmeter. During the move, the server refuses reports, is
 * unreachable, restarts and loses responses. Every check must be counted once.
 */
export const switchOver: Benchmark = {
  summary: 'services with the SDK of Unleash change over while responses are lost: sent and counted checks',
  usage: '[--json] [--services 100] [--seconds 75] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const options = readOptions(args, { services: 100, seconds: 75 }, { services: 3, seconds: 30 });
    try {
      const service = await startService(options.binary);
      const path = `/api/v2/applications/${service.applicationId}/keys/adopt`;
      const body = { token, type: 'Backend', environment: 'Production' };
      await manage(service.http, service.accessToken, 'POST', path, 201, body);
      const run: Run = {
        begun: Number.POSITIVE_INFINITY,
        registered: new Set(),
        services: options.services,
        seconds: options.seconds,
        http: service.http,
        results: new Map(),
      };
      const gateway = await openGateway(run);
      const sdks = Array.from({ length: options.services }, (_, n) => startSdk(gateway.url, n));
      let server: Awaited<ReturnType<typeof startBinary>> = service;
      for (const { at, signal } of restarts) {
        await until(run, at);
        await stop(server, signal);
        server = await startBinary({ data: service.data, args: ['--rate', '0'] });
        run.http = server.http;
      }
      await until(run, 1);
      for (const { finish } of sdks) finish();
      const sent = new Map<string, number>();
      for (const { counts } of await Promise.all(sdks.map(({ checked }) => checked)))
        for (const [flag, checks] of Object.entries(counts)) sent.set(flag, (sent.get(flag) ?? 0) + checks);
      gateway.close();
      const counted = await countedChecks(server.http, service);
      const total = (all: ReadonlyMap<string, number>) => [...all.values()].reduce((sum, each) => sum + each, 0);
      const same = [...sent].every(([flag, checks]) => counted.get(flag) === checks);
      if (!same) process.exitCode = 1;
      show(
        options.json,
        { services: options.services, sent: total(sent), counted: total(counted), ...Object.fromEntries(run.results) },
        [
          ['services', 'checks sent', 'counted'],
          [`${options.services}`, `${total(sent)}`, `${total(counted)}`],
          [
            `${same ? 'every flag has the same' : 'THE COUNTS DIFFER'}; reports: ${[...run.results].map((each) => each.join(' ')).join(', ')}`,
          ],
        ],
      );
      await stop(server);
    } finally {
      cleanUp();
    }
  },
};

interface CheckResult {
  readonly counts: Readonly<Record<string, number>>;
}

/** Waits until all services have registered, and a share of the run is over. */
async function until(run: Run, part: number): Promise<void> {
  while (Date.now() < run.begun + part * 1000 * run.seconds) await Bun.sleep(50);
}

function startSdk(url: string, n: number) {
  const script = join(import.meta.dirname, 'switch-over-sdk.mjs');
  const command = ['node', script, url, token, `service-${n}`];
  const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' });
  const ended = Promise.all([new Response(child.stdout).text(), child.exited]);
  const checked = ended.then(([text, code]) => {
    if (code !== 0) throw new Error(`service ${n} ended with ${code}`);
    return JSON.parse(text) as CheckResult;
  });
  return { checked, finish: () => void child.stdin.end() };
}

/** Starts a gateway that forwards reports to the current server, with the current fault. */
async function openGateway(run: Run) {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.endsWith('/register')) register(run, incoming);
    const name = forward(run, incoming, outgoing);
    run.results.set(name, (run.results.get(name) ?? 0) + 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function register(run: Run, { headers }: IncomingMessage): void {
  run.registered.add(`${headers['unleash-appname'] ?? headers['x-unleash-appname']}`);
  if (run.registered.size === run.services && run.begun === Number.POSITIVE_INFINITY) run.begun = Date.now();
}

/** Forwards a report, or loses it, depending on the current fault. @returns the outcome */
function forward(run: Run, incoming: IncomingMessage, outgoing: ServerResponse): string {
  const fault = faultAt((Date.now() - run.begun) / 1000, run.seconds);
  if (fault === 'unreachable') {
    incoming.socket.destroy();
    return fault;
  }
  if (fault !== undefined) {
    incoming.resume().on('end', () => outgoing.writeHead(fault, { 'retry-after': '1' }).end());
    return `${fault}`;
  }
  const loses = Math.random() < lostResponses;
  const { method, url, headers } = incoming;
  const forwarded = request(`http://${run.http}${url}`, { method, headers }, (upstream) => {
    if (loses) upstream.resume().on('end', () => incoming.socket.destroy());
    else upstream.pipe(outgoing.writeHead(upstream.statusCode!, upstream.headers));
  });
  forwarded.on('error', () => incoming.socket.destroy());
  incoming.pipe(forwarded);
  return loses ? 'answer lost' : 'forwarded';
}

function faultAt(elapsed: number, seconds: number): 503 | 429 | 'unreachable' | undefined {
  return faults.find((each) => {
    const end = 'seconds' in each ? each.from * seconds + each.seconds : each.to * seconds;
    return elapsed >= each.from * seconds && elapsed < end;
  })?.fault;
}

async function countedChecks(http: string, { credentials, applicationId }: Service): Promise<Map<string, number>> {
  const [from, to] = [-86_400_000, 3_600_000].map((ms) => new Date(Date.now() + ms)) as [Date, Date];
  const query = { environment: 'Production', step: 'hour', from, to } as const;
  const { features } = await usage(http, await tokenFor(http, credentials), applicationId, query);
  note(`${features.length} flags counted`);
  return new Map(
    features.map(({ feature, variants }) => [feature, variants.reduce((sum, { checks }) => sum + checks, 0)]),
  );
}

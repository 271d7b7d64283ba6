import { join } from 'node:path';
import { cleanUp, manage, token as newToken, startProcess } from '../test/support/binary.ts';
import { type Benchmark, noteErrors, readOptions, show } from './benchmark.ts';
import { round } from './figures.ts';
import { type LoadPlan, type LoadReport, load } from './load.ts';
import { type Drive, figuresOf, measureRounds, type RoundOptions, type Rounds, speedRows } from './rounds.ts';
import { type Service, startService } from './service.ts';

/** Tokens that requests come with, in turn: callers do not ask for a new one each time. */
const callers = 64;

/** Access tokens issued, against the bare HTTP engine that signs once for each request. */
export const token = besideFloor({
  summary:
    'access tokens issued a second, beside the bare HTTP engine with one signature a request (the floor)',
  unit: 'token',
  floor: 'sign',
  requests: async (service) => [tokenRequest(service)],
});

/** Requests of the management API with a bearer token, against the bare HTTP engine that verifies once for each. */
export const verify = besideFloor({
  summary: 'API requests with a token a second, beside the bare HTTP engine with one verification a request',
  unit: 'request',
  floor: 'verify',
  requests: async ({ http, credentials }) => {
    const tokens = await Promise.all(Array.from({ length: callers }, () => newToken(http, credentials)));
    return tokens.map((bearer) => listRequest(http, bearer));
  },
});

/** One benchmark of this kind. */
interface Comparison {
  readonly summary: string;
  /** What one request gives. */
  readonly unit: string;
  /** What `floor-tokens.ts` does for each request. */
  readonly floor: 'sign' | 'verify';
  /** Whole HTTP requests, which the floor takes too. */
  readonly requests: (service: Service) => Promise<readonly string[]>;
}

function besideFloor(comparison: Comparison): Benchmark {
  return {
    summary: comparison.summary,
    usage: '[--json] [--connections 64] [--seconds 10] [--rounds 3] [--small] [--binary dist/flagmeter]',
    async run(args) {
      const defaults = { connections: 64, seconds: 10, rounds: 3 };
      const options = readOptions(args, defaults, { connections: 8, seconds: 0.25, rounds: 1 });
      try {
        const service = await startService(options.binary, ['--token-rate', '0']);
        const path = join(import.meta.dirname, 'floor-tokens.ts');
        const { http } = await startProcess(process.execPath, [path, comparison.floor]);
        const measured = await measure(service, http, await comparison.requests(service), options);
        await verifyTokens(service);
        print(comparison, options, measured);
      } finally {
        cleanUp();
      }
    },
  };
}

async function measure(
  service: Service,
  floorHttp: string,
  requests: readonly string[],
  { connections, seconds, rounds }: RoundOptions,
): Promise<Rounds<LoadReport>> {
  const plan = { requests, connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
  const driveOf =
    (http: string): Drive<LoadReport> =>
    (open) =>
      drive(http, { ...plan, ...open });
  return measureRounds(rounds, driveOf(floorHttp), driveOf(service.http), service.pid);
}

async function drive(http: string, plan: Omit<LoadPlan, 'host' | 'port' | 'status'>): Promise<LoadReport> {
  const [host, port] = http.split(':') as [string, string];
  const report = await load({ ...plan, host, port: Number(port), status: 200 });
  noteErrors(http, report.errors);
  return report;
}

function tokenRequest({ http, credentials }: Service): string {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    scope: 'openid flagmeter',
  }).toString();
  return [
    'POST /connect/token HTTP/1.1',
    `Host: ${http}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

function listRequest(http: string, bearer: string): string {
  return `GET /api/v2/applications HTTP/1.1\r\nHost: ${http}\r\nAuthorization: Bearer ${bearer}\r\n\r\n`;
}

/** Checks that tokens of a service under load are still good for something. @throws {Error} when they are not */
async function verifyTokens({ http, credentials, applicationId }: Service): Promise<void> {
  const bearer = await newToken(http, credentials);
  const { items } = (await manage(http, bearer, 'GET', '/api/v2/applications', 200)) as {
    items: readonly { id: string }[];
  };
  if (items[0]?.id !== applicationId) throw new Error('a token does not show its application');
}

function print({ unit }: Comparison, options: RoundOptions, measured: Rounds<LoadReport>): void {
  const { json, connections, seconds, rounds } = options;
  const result = { ...figuresOf(measured), connections };
  show(json, result, [
    ...speedRows(unit, ['p50', 'p99'], measured),
    [],
    [`ratio to the floor ${result.ratio}, ${round(measured.cpuUs, 2)} µs CPU a ${unit}`],
    [`${connections} connections, ${rounds} × ${seconds} s each`],
  ]);
}

import { mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BenchPacket, expectedCounts, requestText } from '../src/bench/load/packets.ts';
import type { HttpPlan, LoadReport } from '../src/bench/load/plan.ts';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  token,
  type UsageReport,
  usage,
} from '../test/support/binary.ts';
import { noteErrors } from './benchmark.ts';
import { load } from './load.ts';

const tmpfs = 0x01021994;

/** A service with a fresh store and one application. Packets contain the Frontend key of this application. */
export interface Service extends Binary {
  readonly credentials: Credentials;
  readonly accessToken: string;
  readonly applicationId: string;
  readonly key: string;
}

/**
 * Prepares a fresh store and starts the service on it, without rate limits.
 * @param args additional arguments of `serve`
 */
export async function startService(binary: string, args: readonly string[] = []): Promise<Service> {
  if (statfsSync(tmpdir()).type === tmpfs) {
    process.stderr.write(`${tmpdir()} is in memory: commits cost nothing there; set TMPDIR to a disk\n`);
  }
  const data = join(freshDirectory(), 'data');
  const credentials = await prepareStore(data, binary);
  const service = await startBinary({ data, binary, args: ['--rate', '0', '--api-rate', '0', ...args] });
  const accessToken = await token(service.http, credentials);
  const applicationId = await createApplication(service.http, accessToken, { name: 'bench' });
  const { key } = await createKey(service.http, accessToken, applicationId, 'Frontend');
  return { ...service, credentials, accessToken, applicationId, key };
}

interface PreparedStore {
  readonly credentials: Credentials;
  /** Contents of the store's files by path in the data directory. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const preparedStores = new Map<string, PreparedStore>();

/** Prepares a store, or copies the store that the same executable prepared before. */
export async function prepareStore(data: string, binary: string): Promise<Credentials> {
  const before = preparedStores.get(binary);
  if (before === undefined) {
    const credentials = await prepare(data, binary);
    const paths = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('data.mdb'));
    const files = new Map(paths.map((path) => [path, readFileSync(join(data, path))]));
    preparedStores.set(binary, { credentials, files });
    return credentials;
  }
  for (const [path, content] of before.files) {
    mkdirSync(dirname(join(data, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(data, path), content, { mode: 0o600 });
  }
  return before.credentials;
}

/** Sends packets to a target. Reports responses other than 202 on stderr, in capitals. */
export function sendPackets(
  http: string,
  packets: readonly BenchPacket[],
  plan: Omit<HttpPlan, 'host' | 'port' | 'requests'>,
): Promise<LoadReport> {
  const requests = packets.map((packet) => requestText(packet, http));
  return sendRequests(http, requests, plan);
}

/** Sends complete HTTP requests to a target. Reports unexpected responses on stderr, in capitals. */
export async function sendRequests(
  http: string,
  requests: readonly string[],
  plan: Omit<HttpPlan, 'host' | 'port' | 'requests'>,
): Promise<LoadReport> {
  const [host, port] = http.split(':') as [string, string];
  const report = await load({ ...plan, host, port: Number(port), requests });
  noteErrors(http, report.errors);
  return report;
}

/**
 * Checks that the service counted exactly the packets that it accepted. The speed of wrong counts would mean nothing.
 * @param accepted number of 202 responses by index of the packet
 * @throws {Error} that names the first series whose counts differ
 */
export async function verifyCounts(
  service: Service,
  packets: readonly BenchPacket[],
  accepted: readonly number[],
  since: Date,
): Promise<void> {
  const to = new Date(Date.now() + 3_600_000);
  const query = { environment: 'Production', from: floorToHour(since), to: floorToHour(to), step: 'hour' } as const;
  const counted = readCounts(await usage(service.http, service.accessToken, service.applicationId, query));
  const expected = expectedCounts(packets, accepted);
  for (const series of new Set([...expected.keys(), ...counted.keys()])) {
    const want = String(expected.get(series) ?? [0, 0, 0]);
    const got = String(counted.get(series) ?? [0, 0, 0]);
    if (got !== want) throw new Error(`wrong counts of ${series}: accepted ${want}, reported ${got}`);
  }
}

/** Rounds down to an hour, because reports consist of whole buckets. */
function floorToHour(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 3_600_000) * 3_600_000);
}

function readCounts(report: UsageReport): Map<string, readonly number[]> {
  return new Map(
    report.features.flatMap(({ feature, variants }) =>
      variants.map((v) => [`${feature}/${v.variant}`, [v.checks, v.used, v.viewed]] as const),
    ),
  );
}

/** Returns the number of commits so far from the readiness response; `null` if the response does not contain it. */
export async function readCommits(http: string): Promise<number | null> {
  const response = await fetch(`http://${http}/readyz`);
  const body = (await response.json()) as { commits?: number };
  return body.commits ?? null;
}

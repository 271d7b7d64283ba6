import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createPackets, ingestMix, requestText } from '../src/bench/load/packets.ts';
import { cleanUp, createApplication, createKey, stop } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { load } from './load.ts';
import { round } from './numbers.ts';
import { cpuSeconds, mainThreadSeconds, peakRssMb } from './process-stats.ts';
import { type Service, startService } from './service.ts';

const quiet = { rate: 100, connections: 8 };

/** Measures how hostile senders affect another application. Their reports are small, but expensive to decode. */
export const hostileReports: Benchmark = {
  summary: 'latency of an application next to senders of reports that are small to send and large to decode',
  usage: '[--json] [--connections 16] [--kilobytes 16] [--seconds 10] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 16, kilobytes: 16, seconds: 10 };
    const options = readOptions(args, defaults, { connections: 2, seconds: 0.2 });
    try {
      const shared = options.small ? await startTargets(options.binary) : undefined;
      const shapes = [await measure('nothing', true, () => Buffer.alloc(0), { ...options, shared, connections: 0 })];
      for (const [name, make] of createShapes(options.small)) {
        for (const known of [true, false]) {
          note(`${name}, ${known ? 'with' : 'without'} a key`);
          shapes.push(await measure(name, known, make, { ...options, shared }));
        }
      }
      print(options.json, shapes);
    } finally {
      cleanUp();
    }
  },
};

interface HostileMeasurement {
  readonly name: string;
  readonly known: boolean;
  /** Response times for the packets of the other application. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly peakRssMb: number;
  /** Number of cores that the process uses, and that its main thread uses. */
  readonly cores: number;
  readonly mainCores: number;
  /** Responses to the hostile senders, by status. */
  readonly answers: Readonly<Record<string, number>>;
}

type Options = Readonly<Record<'connections' | 'kilobytes' | 'seconds', number>> & {
  readonly binary: string;
  /** The service of all shapes. By default, each shape gets its own service, whose peak memory is measured. */
  readonly shared: Targets | undefined;
};
type MakeRequest = (key: string) => Buffer;

/** Returns functions that create complete requests, by a description of the request body. */
function createShapes(small: boolean): ReadonlyMap<string, MakeRequest> {
  const part = small ? 1 / 100 : 1;
  return new Map([
    ['2 000 000 empty entries', emptyEntries(2_000_000 * part)],
    ['300 000 names', jsonReport((at) => `{"feature":"feature-${at}"}`, 100_000 * part)],
    ['1 400 000 empty objects', jsonReport(() => '{}', 1_390_000 * part)],
    [
      '350 000 users',
      jsonReport((at) => `{"feature":"f${at}","uniqueUserHashes":[${hashes(at)}]}`, Math.ceil(350 * part)),
    ],
  ]);
}

const hashes = (feature: number) =>
  Array.from({ length: 1_000 }, (_, n) => Math.imul(feature * 1_000 + n + 1, 0x9e3779b1));

function jsonReport(entry: (at: number) => string, count: number): MakeRequest {
  const stats = Array.from({ length: count }, (_, at) => entry(at)).join(',');
  return (key) => {
    const head = `{"appKey":"${key}","environment":"Production","time":"${new Date().toISOString()}","stats":[`;
    const body = gzipSync(`${head}${stats}]}`);
    return post('/api/usage/stats', 'application/json', body);
  };
}

/** Returns a function that creates a `FeatureStat` with a key, an environment and empty entries. */
function emptyEntries(count: number): MakeRequest {
  return (key) => {
    const text = (field: number, value: string) =>
      Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value)]);
    const message = Buffer.concat([
      text(1, key),
      text(2, 'Production'),
      Buffer.alloc(2 * count, Buffer.from([0x22, 0])),
    ]);
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(message.length, 1);
    return post('/Usage.Usage/SendStats', 'application/grpc-web+proto', gzipSync(Buffer.concat([frame, message])));
  };
}

function post(path: string, type: string, body: Buffer): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

async function measure(
  name: string,
  known: boolean,
  make: MakeRequest,
  { connections, kilobytes, seconds, binary, shared }: Options,
): Promise<HostileMeasurement> {
  const { hostile, neighbour } = shared ?? (await startTargets(binary));
  const request = make(known ? hostile.key : 'x'.repeat(40));
  const [host, port] = hostile.http.split(':') as [string, string];
  const address = { host, port: Number(port) };
  const ending = new AbortController();
  const before = { all: cpuSeconds(hostile.pid), main: mainThreadSeconds(hostile.pid) };
  const began = performance.now();
  const sending = Promise.all(
    Array.from({ length: connections }, () => sendPaced(address, request, kilobytes * 1000, ending.signal)),
  );
  const requests = createPackets(ingestMix, neighbour.key).map((packet) => requestText(packet, hostile.http));
  const report = await load({ ...address, ...quiet, requests, seconds, warmupSeconds: Math.min(1, seconds / 5) });
  const took = (performance.now() - began) / 1000;
  ending.abort();
  const answers: Record<string, number> = {};
  for (const answer of (await sending).flat()) answers[answer] = (answers[answer] ?? 0) + 1;
  if (Object.keys(report.errors).length > 0) note(`not accepted: ${JSON.stringify(report.errors)}`);
  const measured = {
    name,
    known,
    answers,
    p50Ms: round(report.p50, 1),
    p99Ms: round(report.p99, 1),
    peakRssMb: round(peakRssMb(hostile.pid), 0),
    cores: round((cpuSeconds(hostile.pid) - before.all) / took, 2),
    mainCores: round((mainThreadSeconds(hostile.pid) - before.main) / took, 2),
  };
  if (shared === undefined) await stop(hostile, 'SIGKILL');
  return measured;
}

/** A service with the application of hostile senders, and its neighbour. */
interface Targets {
  readonly hostile: Service;
  readonly neighbour: Service;
}

async function startTargets(binary: string): Promise<Targets> {
  const hostile = await startService(binary, ['--rate', '10000']);
  return { hostile, neighbour: await createNeighbour(hostile) };
}

async function createNeighbour(service: Service): Promise<Service> {
  const applicationId = await createApplication(service.http, service.accessToken, { name: 'quiet' });
  const { key } = await createKey(service.http, service.accessToken, applicationId, 'Frontend');
  return { ...service, applicationId, key };
}

/** Repeats a request on one connection, with an average number of bytes per second. @returns the responses */
async function sendPaced(
  address: { host: string; port: number },
  request: Buffer,
  bytesPerSecond: number,
  signal: AbortSignal,
): Promise<string[]> {
  const responses: string[] = [];
  const every = (request.length / bytesPerSecond) * 1000;
  while (!signal.aborted) {
    const began = performance.now();
    const socket = connect(address).on('error', () => {});
    const over = Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.write(request);
    const [answer] = await Promise.race([over, aborted(signal)]);
    socket.destroy();
    if (answer !== undefined) responses.push(statusIn(answer));
    await Promise.race([pause(Math.max(0, every - (performance.now() - began))), aborted(signal)]);
  }
  return responses;
}

function aborted(signal: AbortSignal): Promise<[undefined]> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve([undefined]);
    else signal.addEventListener('abort', () => resolve([undefined]), { once: true });
  });
}

/** Returns the HTTP status, or the status in the trailers of gRPC-Web. */
function statusIn(response: Buffer | boolean): string {
  if (typeof response === 'boolean') return 'closed';
  const text = response.toString('latin1');
  return /grpc-status: \d+/.exec(text)?.[0] ?? text.split(' ')[1]!;
}

function print(json: boolean, shapes: readonly HostileMeasurement[]): void {
  const rows = shapes.map(({ name, known, p50Ms, p99Ms, cores, mainCores, ...rest }) => [
    name === 'nothing' ? name : `${name}, ${known ? 'with' : 'without'} a key`,
    `${p50Ms}`,
    `${p99Ms}`,
    `${rest.peakRssMb} MiB`,
    `${cores} (${mainCores})`,
    JSON.stringify(rest.answers),
  ]);
  show(json, { shapes }, [['senders', 'p50 ms', 'p99 ms', 'resident', 'cores (main)', 'answers'], ...rows]);
}

import type { Api, Item } from '../cli/api.ts';
import { readItems } from '../cli/report.ts';
import { readFields } from '../cli/send.ts';
import { type BenchPacket, createPackets, expectedCounts, ingestMix, requestText } from './load/packets.ts';
import type { GrpcPlan, LoadPlan, LoadReport } from './load/plan.ts';
import { encodeReport } from './load/reports.ts';
import { grpcStreams, type Transport } from './sweep.ts';

/** Connections, rate and duration of a plan. */
type LoadSettings = Omit<
  GrpcPlan,
  'protocol' | 'streams' | 'path' | 'message' | 'positions' | 'firstNumber' | 'response' | 'host' | 'port'
>;

/** The requests of a stage, and the applications that receive them. */
export interface Workload {
  readonly applications: Applications;
  /** Returns the plan of the next stage. @param address `HOST:PORT` */
  plan(address: string, sending: LoadSettings): LoadPlan;
}

/**
 * Creates several applications for packets over HTTP, or one application for reports over gRPC.
 * @param count number of applications for packets
 * @param now Unix ms
 * @throws {Failure} if the server refuses a request
 */
export async function createWorkload(api: Api, transport: Transport, count: number, now: number): Promise<Workload> {
  const name = `Bench ${new Date(now).toISOString()} ${transport}`;
  return transport === 'http' ? packets(api, name, count, now) : reports(api, name, now);
}

/** Creates packets of a browser: first the packets of one application, then the packets of the next. */
async function packets(api: Api, name: string, count: number, now: number): Promise<Workload> {
  const of = [];
  for (let number = 1; number <= count; number += 1)
    of.push(await createApplication(api, `${name} ${number}`, (key) => createPackets(ingestMix, key)));
  const applications = new Applications(api, of, now);
  const bodies = of.flatMap(({ key }) => createPackets(ingestMix, key));
  return {
    applications,
    plan: (address, sending) => ({
      ...sending,
      ...splitAddress(address),
      requests: bodies.map((packet) => requestText(packet, address)),
    }),
  };
}

/** Creates a server report with 20 features. Each copy that is sent has a different instance or time. */
async function reports(api: Api, name: string, now: number): Promise<Workload> {
  const reportFor = (key: string) => encodeReport(key, new Date(now));
  const application = await createApplication(api, name, (key) => [reportFor(key)]);
  const { message, positions, response } = reportFor(application.key);
  const applications = new Applications(api, [application], now);
  return {
    applications,
    plan: (address, sending) => ({
      ...sending,
      ...splitAddress(address),
      protocol: 'grpc',
      streams: grpcStreams,
      path: '/Usage.Usage/SendStats',
      message: message.toString('base64'),
      positions,
      firstNumber: applications.sent,
      response: response.toString('base64'),
    }),
  };
}

function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 80) };
}

const hourMs = 3_600_000;

/** An application of a bench, and its packets. */
interface Application {
  readonly id: string;
  /** The key in the packets. */
  readonly key: string;
  readonly packets: readonly Pick<BenchPacket, 'counts'>[];
}

/** The applications that receive the packets of the stages, and the counts that they must have afterwards. */
class Applications {
  readonly #api: Api;
  readonly #all: readonly Application[];
  readonly #accepted: number[];
  readonly #since: number;
  /** Number of packets without a response. The server might have counted these packets. */
  #uncertain = 0;
  sent = 0;

  constructor(api: Api, all: readonly Application[], now: number) {
    this.#api = api;
    this.#all = all;
    this.#accepted = all.flatMap(({ packets }) => packets.map(() => 0));
    this.#since = now;
  }

  /** Adds the result of a stage. The packets of the stage are ordered by application. */
  add({ accepted, errors, sent }: Pick<LoadReport, 'accepted' | 'errors' | 'sent'>): void {
    accepted.forEach((count, index) => {
      this.#accepted[index]! += count;
    });
    for (const [kind, count] of Object.entries(errors)) if (!isStatus(kind)) this.#uncertain += count;
    this.sent += sent;
  }

  /** Compares the usage reports with the acknowledged packets. @returns the first difference, as text */
  async difference(now: number): Promise<string | undefined> {
    let first = 0;
    for (const { id, packets } of this.#all) {
      const range = { from: hourAt(this.#since), to: hourAt(now + hourMs), step: 'hour' };
      const query = { environment: 'Production', ...range };
      const report = await this.#api.read(['applications', id, 'usage'], query);
      const accepted = this.#accepted.slice(first, first + packets.length);
      first += packets.length;
      const found = findDifference(expectedCounts(packets, accepted), countsIn(report), this.#uncertain);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async remove(): Promise<void> {
    for (const { id } of this.#all) await this.#api.call('DELETE', ['applications', id]);
  }
}

/** True if an error is an HTTP status. Only such an error shows that the packet was not counted. */
function isStatus(kind: string): boolean {
  return /^\d+$/.test(kind);
}

async function createApplication(
  api: Api,
  name: string,
  packetsFor: (key: string) => Application['packets'],
): Promise<Application> {
  const id = String(readFields(await api.call('POST', ['applications'], { name }))['id']);
  const created = await api.call('POST', ['applications', id, 'keys'], { type: 'Frontend' });
  const key = String(readFields(created)['key']);
  return { id, key, packets: packetsFor(key) };
}

type Counts = ReadonlyMap<string, readonly number[]>;

/**
 * Finds the first series whose counts differ from the acknowledged packets.
 * @param uncertain number of packets without a response, which the service might have counted
 */
export function findDifference(expected: Counts, counted: Counts, uncertain: number): string | undefined {
  for (const series of new Set([...expected.keys(), ...counted.keys()])) {
    const want = expected.get(series) ?? [0, 0, 0];
    const got = counted.get(series) ?? [0, 0, 0];
    const isRight = want.every((each, at) => (uncertain === 0 ? got[at] === each : got[at]! >= each));
    if (!isRight) return `${series}: acknowledged ${want.join('/')}, reported ${got.join('/')}`;
  }
  return undefined;
}

function countsIn(report: Item): Counts {
  return new Map(
    readItems(report, 'features').flatMap((feature) =>
      readItems(feature, 'variants').map((variant) => [
        `${feature['feature']}/${variant['variant']}`,
        ['checks', 'used', 'viewed'].map((name) => Number(variant[name])),
      ]),
    ),
  );
}

/** Returns the start of the hour that contains a time, because usage reports consist of whole hours. */
function hourAt(time: number): string {
  return new Date(Math.floor(time / hourMs) * hourMs).toISOString();
}

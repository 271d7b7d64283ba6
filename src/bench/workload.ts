import type { Api } from '../cli/api.ts';
import { Applications, createApplication } from './applications.ts';
import { ingestMix, packetsOf, requestText } from './load/packets.ts';
import type { GrpcPlan, LoadPlan } from './load/plan.ts';
import { reportOf } from './load/reports.ts';
import { grpcStreams, type Transport } from './sweep.ts';

/** Connections, rate and duration of a plan. */
type Sending = Omit<
  GrpcPlan,
  'protocol' | 'streams' | 'path' | 'message' | 'marks' | 'firstNumber' | 'answer' | 'host' | 'port'
>;

/** What a stage sends, and to which applications. */
export interface Workload {
  readonly applications: Applications;
  /** The plan of the next stage. @param address `HOST:PORT` */
  plan(address: string, sending: Sending): LoadPlan;
}

/**
 * Creates applications for packets over HTTP, or one for reports over gRPC.
 * @param count number of applications for packets
 * @param now Unix ms
 * @throws {Failure} if the server refuses
 */
export async function createWorkload(
  api: Api,
  transport: Transport,
  count: number,
  now: number,
): Promise<Workload> {
  const name = `Bench ${new Date(now).toISOString()} ${transport}`;
  return transport === 'http' ? packets(api, name, count, now) : reports(api, name, now);
}

/** The packets of a browser, for one application after the other. */
async function packets(api: Api, name: string, count: number, now: number): Promise<Workload> {
  const of = [];
  for (let number = 1; number <= count; number += 1)
    of.push(await createApplication(api, `${name} ${number}`, (key) => packetsOf(ingestMix, key)));
  const applications = new Applications(api, of, now);
  const bodies = of.flatMap(({ key }) => packetsOf(ingestMix, key));
  return {
    applications,
    plan: (address, sending) => ({
      ...sending,
      ...splitAddress(address),
      requests: bodies.map((packet) => requestText(packet, address)),
    }),
  };
}

/** The report of a server with 20 features, each time as another one. */
async function reports(api: Api, name: string, now: number): Promise<Workload> {
  const reportFor = (key: string) => reportOf(key, new Date(now));
  const application = await createApplication(api, name, (key) => [reportFor(key)]);
  const { message, marks, answer } = reportFor(application.key);
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
      marks,
      firstNumber: applications.sent,
      answer: answer.toString('base64'),
    }),
  };
}

function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 80) };
}

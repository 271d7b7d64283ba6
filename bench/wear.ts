import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type BenchPacket, createPackets, type PacketMix, requestText } from '../src/bench/load/packets.ts';
import { type DiskStats, diskStats, diskStatsBetween, findDevice } from '../src/bench/load/server-usage.ts';
import { cleanUp, manage, stop } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { type Growth, measureGrowth } from './growth.ts';
import { round } from './numbers.ts';
import { cpuSeconds, ioBytes, rssMb } from './process-stats.ts';
import { type Service, sendPackets, startService, verifyCounts } from './service.ts';

/**
 * Packets with three of 100 flags and two variants of each flag. Packets of the second kind also contain one of ten
 * metrics, and a person.
 */
const plain: PacketMix = { features: 100, variants: 2, metrics: 10, featuresPerPacket: 3, metricsPerPacket: 0 };
const personal: PacketMix = { ...plain, metricsPerPacket: 1 };

const fewRates = [100];
const rates = [100, 1_000, 5_000, 20_000];

/** Rate of other processes' writes, bytes per second, above which figures for few packets are unreliable. */
const quietBytes = 20_000;

/** Measures the disk and CPU use of a packet, at fixed rates. */
export const wear: Benchmark = {
  summary: 'disk writes, flushes and CPU per packet at fixed rates',
  usage:
    '[--json] [--rates 100,1000,5000,20000] [--delays N,N] [--siblings 100] [--people 100000] [--connections 256] [--seconds 30] [--idle 5] [--days 9] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { siblings: 100, people: 100_000, connections: 256, seconds: 30, idle: 5, days: 9 };
    const small = { people: 50, connections: 8, seconds: 0.2, idle: 0.1, days: 3 };
    const lists = { rates: args.includes('--small') ? fewRates : rates, delays: [] };
    const options = readOptions(args, defaults, small, lists);
    try {
      const runs = [...(await measureKind('plain', options)), ...(await measureKind('personal', options))];
      print(options.json, runs, await measureGrowth(options.small ? 1 : 48, options.days));
    } finally {
      cleanUp();
    }
  },
};

/** Settings of the runs. */
export type WearOptions = Readonly<
  Record<'siblings' | 'people' | 'connections' | 'seconds' | 'idle', number> & { binary: string }
>;

interface Options extends WearOptions {
  readonly rates: readonly number[];
  /** Values of `--commit-delay`. If the list is empty, the default delay is measured. */
  readonly delays: readonly number[];
}

type Kind = 'plain' | 'personal';

/** A service under test, and the packets that it receives. */
export interface Trial {
  readonly name: string;
  readonly service: Service;
  readonly since: Date;
  readonly packets: readonly BenchPacket[];
  readonly accepted: number[];
  /** Index of the next packet. */
  next: number;
}

/** Figures of one run. Figures of the disk are `null` if the kernel does not report them. */
export interface WearRun {
  readonly kind: Kind;
  readonly offered: number;
  readonly name: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Figures per packet: kB, writes and flushes of the device; kB in `/proc/PID/io`; CPU of the process. */
  readonly diskKb: number | null;
  readonly writes: number | null;
  readonly flushes: number | null;
  readonly ioKb: number;
  readonly cpuUs: number;
  readonly rssMb: number;
  readonly requestBytes: number;
  /** Write activity of the device before the run, while the service is idle: kB and flushes per second. */
  readonly idleKb: number | null;
  readonly idleFlushes: number | null;
}

/** Measures packets of one kind. At each rate, the services run alternately, so that conditions are the same. */
async function measureKind(kind: Kind, options: Options): Promise<WearRun[]> {
  const trials: Trial[] = [];
  const runs: WearRun[] = [];
  for (const delay of options.delays.length > 0 ? options.delays : [undefined])
    trials.push(await prepareTrial(kind, delay, options));
  for (const rate of options.rates) {
    for (const trial of trials) {
      const run = await measure(trial, kind, rate, options);
      note(`${kind}, ${rate}/s, ${trial.name}: ${JSON.stringify(run)}`);
      runs.push(run);
    }
  }
  for (const trial of trials) {
    await verifyTrial(trial);
    await stop(trial.service);
  }
  return runs;
}

/** Checks the counts of all runs. @throws {Error} if they are wrong */
export function verifyTrial({ service, packets, accepted, since }: Trial): Promise<void> {
  return verifyCounts(service, packets, accepted, since);
}

/** Starts a service, and sends packets until the store knows all series and people and the journal has segments. */
export async function prepareTrial(kind: Kind, delay: number | undefined, options: WearOptions): Promise<Trial> {
  const since = new Date();
  const { siblings, people, binary } = options;
  const delayed = delay === undefined ? [] : ['--commit-delay', String(delay), '--commit-siblings', String(siblings)];
  const service = await startService(binary, delayed);
  const { http, accessToken, applicationId, key } = service;
  const path = `/api/v2/applications/${applicationId}`;
  await manage(http, accessToken, 'PATCH', path, 200, { acceptClientIdentities: true });
  const packets = kind === 'plain' ? createPackets(plain, key) : packetsOfPeople(people, key);
  const accepted = packets.map(() => 0);
  const name = [basename(binary), ...delayed].join(' ');
  const trial: Trial = { name, service, since, packets, accepted, next: 0 };
  await send(trial, packets.length, { connections: 64, seconds: 3_600, limit: people });
  return trial;
}

/** Returns a packet for each person. A person always receives the same flags. */
function packetsOfPeople(people: number, key: string): BenchPacket[] {
  const base = createPackets(personal, key);
  return Array.from({ length: people }, (_, at) => {
    const { body, counts } = base[at % base.length]!;
    return { body: JSON.stringify({ ...JSON.parse(body), u: `person-${at}` }), counts };
  });
}

/** Sends the next packets of a trial, beginning again after the last one. */
async function send(
  trial: Trial,
  count: number,
  plan: { connections: number; seconds: number; rate?: number; limit?: number },
) {
  const { service, packets, accepted, next } = trial;
  const chosen = Array.from({ length: Math.min(count, packets.length) }, (_, at) => (next + at) % packets.length);
  trial.next = (next + count) % packets.length;
  const report = await sendPackets(
    service.http,
    chosen.map((at) => packets[at]!),
    { warmupSeconds: 0, ...plan },
  );
  for (const [at, times] of report.accepted.entries()) accepted[chosen[at]!]! += times;
  return report;
}

/** Sends packets at a rate, and measures their disk and CPU use. */
export async function measure(trial: Trial, kind: Kind, rate: number, options: WearOptions): Promise<WearRun> {
  const { name, service, packets } = trial;
  const { pid, data } = service;
  const device = findDevice(data);
  const read = () => (device === undefined ? undefined : diskStats(device));
  await storeAll(service);
  await pause(options.idle * 1000); // During the pause, the service prepares a journal segment.
  const rested = read();
  await pause(options.idle * 1000);
  const before = { disk: read(), io: ioBytes(pid), cpu: cpuSeconds(pid) };
  const { connections, seconds } = options;
  const { requests, rps, p50, p99 } = await send(trial, rate * seconds, { connections, seconds, rate });
  await storeAll(service);
  const idle = between(rested, before.disk);
  const disk = between(before.disk, read());
  const perPacket = (value: number | undefined, decimals = 2) =>
    value === undefined ? null : round(value / requests, decimals);
  const perIdleSecond = (value: number | undefined) => (value === undefined ? null : round(value / options.idle, 1));
  if ((idle?.bytes ?? 0) > quietBytes * options.idle) {
    note(`OTHER WRITES to ${device}: ${round(idle!.bytes / 1e3 / options.idle)} kB/s with the service idle`);
  }
  return {
    kind,
    offered: rate,
    name,
    perSecond: round(rps),
    p50Ms: round(p50, 2),
    p99Ms: round(p99, 2),
    diskKb: perPacket(disk && disk.bytes / 1000),
    writes: perPacket(disk?.writes, 3),
    flushes: perPacket(disk?.flushes, 3),
    ioKb: round((ioBytes(pid) - before.io) / 1000 / requests, 2),
    cpuUs: round(((cpuSeconds(pid) - before.cpu) * 1e6) / requests, 1),
    rssMb: round(rssMb(pid)),
    requestBytes: requestText(packets[0]!, service.http).length,
    idleKb: perIdleSecond(idle && idle.bytes / 1000),
    idleFlushes: perIdleSecond(idle?.flushes),
  };
}

function between(before: DiskStats | undefined, after: DiskStats | undefined): DiskStats | undefined {
  return before && after && diskStatsBetween(before, after);
}

/** Reads a report, which first folds all data into the store. The run thus includes the whole cost of its packets. */
async function storeAll({ http, accessToken, applicationId }: Service): Promise<void> {
  const query = 'environment=Production&step=day';
  await manage(http, accessToken, 'GET', `/api/v2/applications/${applicationId}/usage?${query}`, 200);
}

function print(json: boolean, runs: readonly WearRun[], growth: Growth): void {
  const columns = [
    'perSecond',
    'diskKb',
    'writes',
    'flushes',
    'ioKb',
    'cpuUs',
    'p50Ms',
    'p99Ms',
    'rssMb',
    'idleKb',
  ] as const;
  show(json, { runs, growth }, [
    [
      'a packet',
      'packets/s',
      'disk kB',
      'writes',
      'flushes',
      'io kB',
      'µs CPU',
      'p50 ms',
      'p99 ms',
      'MiB',
      'other kB/s',
    ],
    ...runs.map((run) => [
      `${run.kind}, ${run.offered}/s, ${run.name}`,
      ...columns.map((column) => String(run[column] ?? '–')),
    ]),
    ['Every count verified in the usage report.'],
    [
      `A store of ${growth.series} series: ${growth.minutesMb} MB with every minute of two days, and ${growth.dayMb} MB for each further day.`,
    ],
  ]);
}

import { join } from 'node:path';
import { cleanUp, type Started, startProcess } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { cpuSeconds, median, round, rssMb } from './figures.ts';
import type { LoadPlan, LoadReport } from './load.ts';
import { type BenchPacket, ingestMix, packetsOf, seriesOf } from './packets.ts';
import { commitsOf, type Service, sendPackets, startService, verifyCounts } from './service.ts';

/** Durable telemetry against the bare HTTP engine, driven in turn by the same generator with the same packets. */
export const ingest: Benchmark = {
  summary: 'telemetry packets a second, durable, beside the bare HTTP engine (the floor)',
  usage: '[--json] [--connections 256] [--seconds 10] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 256, seconds: 10, rounds: 3 };
    const options = readOptions(args, defaults, { connections: 8, seconds: 0.25, rounds: 1 });
    try {
      const since = new Date();
      const service = await startService(options.binary);
      const floor = await startProcess(process.execPath, [join(import.meta.dirname, 'floor.ts')]);
      const packets = packetsOf(ingestMix, service.key);
      const measured = await measure(service, floor, packets, options);
      await verifyCounts(service, packets, measured.accepted, since);
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
  readonly floorHalf: LoadReport;
  readonly half: LoadReport;
  /** Answers with 202 of all runs, by index of the packet. */
  readonly accepted: readonly number[];
  readonly rssMb: number;
  readonly cpuUsPerPacket: number;
  readonly commits: number | null;
}

async function measure(
  service: Service,
  target: Started,
  packets: readonly BenchPacket[],
  { connections, seconds, rounds }: Options,
): Promise<Measured> {
  const plan: Omit<LoadPlan, 'host' | 'port' | 'requests'> = {
    connections,
    seconds,
    warmupSeconds: Math.min(1, seconds / 5),
  };
  const commitsBefore = await commitsOf(service.http);
  const floor: LoadReport[] = [];
  const full: LoadReport[] = [];
  let cpu = 0;
  for (let turn = 1; turn <= rounds; turn++) {
    const bare = await sendPackets(target.http, packets, plan);
    floor.push(bare);
    const before = cpuSeconds(service.pid);
    const durable = await sendPackets(service.http, packets, plan);
    cpu += cpuSeconds(service.pid) - before;
    full.push(durable);
    note(`round ${turn}: floor ${round(bare.rps)}/s, flagmeter ${round(durable.rps)}/s`);
  }
  const rate = Math.max(1, median(full.map((run) => run.rps)) / 2);
  const floorHalf = await sendPackets(target.http, packets, { ...plan, rate });
  const half = await sendPackets(service.http, packets, { ...plan, rate });
  const commitsAfter = await commitsOf(service.http);
  return {
    floor,
    full,
    floorHalf,
    half,
    accepted: packets.map((_, index) =>
      [...full, half].reduce((sum, run) => sum + (run.accepted[index] ?? 0), 0),
    ),
    rssMb: rssMb(service.pid),
    cpuUsPerPacket: (cpu * 1e6) / full.reduce((sum, run) => sum + run.requests, 0),
    commits: commitsAfter === null ? null : commitsAfter - (commitsBefore ?? 0),
  };
}

function print({ json, connections, seconds, rounds }: Options, measured: Measured): void {
  const { floor, full, floorHalf, half } = measured;
  const middle = (runs: readonly LoadReport[], field: 'rps' | 'p50' | 'p90' | 'p99' | 'p999') =>
    median(runs.map((run) => run[field]));
  const result = {
    floorRps: round(middle(floor, 'rps')),
    rps: round(middle(full, 'rps')),
    ratio: round(median(full.map((run, turn) => run.rps / (floor[turn]?.rps ?? Number.NaN))), 3),
    p50Ms: round(half.p50, 3),
    p99Ms: round(half.p99, 3),
    rssMb: round(measured.rssMb, 1),
    cpuUsPerPacket: round(measured.cpuUsPerPacket, 2),
    commits: measured.commits,
    connections,
  };
  const latencies = (of: (field: 'p50' | 'p90' | 'p99' | 'p999') => number) =>
    (['p50', 'p90', 'p99', 'p999'] as const).map((field) => of(field).toFixed(2));
  const share = (runs: readonly LoadReport[]) => `${round(median(runs.map((run) => run.cpuShare * 100)))} %`;
  show(json, result, [
    ['', 'packets/s', 'p50 ms', 'p90 ms', 'p99 ms', 'p999 ms', 'generator CPU'],
    ['floor, full speed', `${result.floorRps}`, ...latencies((f) => middle(floor, f)), share(floor)],
    ['flagmeter, full speed', `${result.rps}`, ...latencies((f) => middle(full, f)), share(full)],
    ['floor, half rate', `${round(floorHalf.rps)}`, ...latencies((f) => floorHalf[f]), share([floorHalf])],
    ['flagmeter, half rate', `${round(half.rps)}`, ...latencies((f) => half[f]), share([half])],
    [],
    [
      `ratio to the floor ${result.ratio}, ${result.cpuUsPerPacket} µs CPU a packet, ${result.rssMb} MiB resident`,
    ],
    [
      `${connections} connections, ${rounds} × ${seconds} s each, ${seriesOf(ingestMix)} series, ` +
        `${result.commits ?? 'unknown'} commits; every count verified in the usage report`,
    ],
  ]);
}

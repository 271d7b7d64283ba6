import { join } from 'node:path';
import { cleanUp, type Started, startProcess } from '../test/support/binary.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { round, rssMb } from './figures.ts';
import type { LoadReport } from './load.ts';
import { type BenchPacket, ingestMix, packetsOf, seriesOf } from './packets.ts';
import { type Drive, figuresOf, measureRounds, type RoundOptions, type Rounds, speedRows } from './rounds.ts';
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

interface Measured extends Rounds<LoadReport> {
  readonly floorHalf: LoadReport;
  /** Answers with 202 of all runs, by index of the packet. */
  readonly accepted: readonly number[];
  readonly rssMb: number;
  readonly commits: number | null;
}

async function measure(
  service: Service,
  target: Started,
  packets: readonly BenchPacket[],
  { connections, seconds, rounds }: RoundOptions,
): Promise<Measured> {
  const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
  const driveOf =
    (http: string): Drive<LoadReport> =>
    (open) =>
      sendPackets(http, packets, { ...plan, ...open });
  const commitsBefore = await commitsOf(service.http);
  const measured = await measureRounds(rounds, driveOf(target.http), driveOf(service.http), service.pid);
  const commitsAfter = await commitsOf(service.http);
  const { full, half, halfRate } = measured;
  return {
    ...measured,
    floorHalf: await driveOf(target.http)({ rate: halfRate }),
    accepted: packets.map((_, index) =>
      [...full, half].reduce((sum, run) => sum + (run.accepted[index] ?? 0), 0),
    ),
    rssMb: rssMb(service.pid),
    commits: commitsAfter === null ? null : commitsAfter - (commitsBefore ?? 0),
  };
}

function print({ json, connections, seconds, rounds }: RoundOptions, measured: Measured): void {
  const { commits } = measured;
  const result = {
    ...figuresOf(measured),
    rssMb: round(measured.rssMb, 1),
    cpuUsPerPacket: round(measured.cpuUs, 2),
    commits,
    connections,
  };
  show(json, result, [
    ...speedRows('packet', ['p50', 'p90', 'p99', 'p999'], measured, measured.floorHalf),
    [],
    [
      `ratio to the floor ${result.ratio}, ${result.cpuUsPerPacket} µs CPU a packet, ${result.rssMb} MiB resident`,
    ],
    [
      `${connections} connections, ${rounds} × ${seconds} s each, ${seriesOf(ingestMix)} series, ` +
        `${commits ?? 'unknown'} commits; every count verified in the usage report`,
    ],
  ]);
}

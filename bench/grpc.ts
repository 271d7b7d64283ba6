import { join } from 'node:path';
import { cleanUp, startProcess } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { median, round } from './figures.ts';
import { type GrpcPlan, type GrpcReport, loadGrpc } from './load-grpc.ts';
import { type BenchReport, reportAnswer, reportOf } from './report-call.ts';
import { type Service, startService, verifyCounts } from './service.ts';

/** Durable usage reports by gRPC against an empty handler of grpc-js, driven in turn by the same generator. */
export const grpc: Benchmark = {
  summary: 'usage reports a second by gRPC, durable, beside an empty grpc-js handler (the floor)',
  usage:
    '[--json] [--connections 16] [--streams 16] [--seconds 10] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 16, streams: 16, seconds: 10, rounds: 3 };
    const small = { connections: 2, streams: 4, seconds: 0.25, rounds: 1 };
    const options = readOptions(args, defaults, small);
    try {
      const since = new Date();
      const service = await startService(options.binary);
      const floor = await startProcess(process.execPath, [join(import.meta.dirname, 'floor-grpc.ts')]);
      const report = reportOf(service.key, since);
      const measured = await measure(service, floor.http, report, options);
      const accepted = [...measured.full, measured.half].reduce((sum, run) => sum + run.requests, 0);
      await verifyCounts(service, [{ body: '', counts: report.counts }], [accepted], since);
      print(options, measured);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<{
  connections: number;
  streams: number;
  seconds: number;
  rounds: number;
  json: boolean;
}>;

interface Measured {
  /** Full speed, a report a round. */
  readonly floor: readonly GrpcReport[];
  readonly full: readonly GrpcReport[];
  /** Open loop at half of the service's rate. */
  readonly half: GrpcReport;
}

async function measure(
  service: Service,
  floorAddress: string,
  report: BenchReport,
  options: Options,
): Promise<Measured> {
  const floor: GrpcReport[] = [];
  const full: GrpcReport[] = [];
  let sent = 0;
  const drive = async (address: string, rate: { rate?: number } = {}) => {
    const run = await loadGrpc({ ...planOf(address, report, options), firstNumber: sent, ...rate });
    if (Object.keys(run.errors).length > 0) {
      note(`NOT ACCEPTED by ${address}: ${JSON.stringify(run.errors)}`);
      process.exitCode = 1;
    }
    sent += run.requests + (run.errors['failed'] ?? 0);
    return run;
  };
  for (let turn = 1; turn <= options.rounds; turn++) {
    const bare = await drive(floorAddress);
    const durable = await drive(service.grpc);
    floor.push(bare);
    full.push(durable);
    note(`round ${turn}: floor ${round(bare.rps)}/s, flagmeter ${round(durable.rps)}/s`);
  }
  const rate = Math.max(1, median(full.map((run) => run.rps)) / 2);
  return { floor, full, half: await drive(service.grpc, { rate }) };
}

function planOf(
  address: string,
  { message, numberAt }: BenchReport,
  { connections, streams, seconds }: Options,
): Omit<GrpcPlan, 'firstNumber'> {
  const [host, port] = address.split(':') as [string, string];
  return {
    host,
    port: Number(port),
    connections,
    streams,
    path: '/Usage.Usage/SendStats',
    message: message.toString('base64'),
    numberAt,
    answer: reportAnswer.toString('base64'),
    warmupSeconds: Math.min(1, seconds / 5),
    seconds,
  };
}

function print(
  { json, connections, streams, seconds, rounds }: Options,
  { floor, full, half }: Measured,
): void {
  const middle = (runs: readonly GrpcReport[], field: 'rps' | 'p50' | 'p99') =>
    median(runs.map((run) => run[field]));
  const result = {
    floorRps: round(middle(floor, 'rps')),
    rps: round(middle(full, 'rps')),
    ratio: round(median(full.map((run, turn) => run.rps / (floor[turn]?.rps ?? Number.NaN))), 3),
    p50Ms: round(half.p50, 3),
    p99Ms: round(half.p99, 3),
    connections,
  };
  const row = (name: string, runs: readonly GrpcReport[]) => [
    name,
    `${round(middle(runs, 'rps'))}`,
    middle(runs, 'p50').toFixed(2),
    middle(runs, 'p99').toFixed(2),
    `${round(median(runs.map((run) => run.cpuShare * 100)))} %`,
  ];
  show(json, result, [
    ['', 'reports/s', 'p50 ms', 'p99 ms', 'generator CPU'],
    row('floor, full speed', floor),
    row('flagmeter, full speed', full),
    row('flagmeter, half rate', [half]),
    [],
    [`ratio to the floor ${result.ratio}`],
    [
      `${connections} connections × ${streams} streams, ${rounds} × ${seconds} s each, 20 features × 2 variants a ` +
        'report; every count verified in the usage report',
    ],
  ]);
}

import { join } from 'node:path';
import { cleanUp, startProcess } from '../test/support/binary.ts';
import { type Benchmark, noteErrors, readOptions, show } from './benchmark.ts';
import { round } from './figures.ts';
import { type GrpcPlan, type GrpcReport, loadGrpc } from './load-grpc.ts';
import { type BenchReport, reportAnswer, reportOf } from './report-call.ts';
import { type Drive, figuresOf, measureRounds, type RoundOptions, type Rounds, speedRows } from './rounds.ts';
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
      await verifyCounts(service, [{ body: '', counts: report.counts }], [measured.accepted], since);
      print(options, measured);
    } finally {
      cleanUp();
    }
  },
};

interface Options extends RoundOptions {
  readonly streams: number;
}

interface Measured extends Rounds<GrpcReport> {
  /** Reports that the service accepted, in all runs. */
  readonly accepted: number;
}

async function measure(
  service: Service,
  floorAddress: string,
  report: BenchReport,
  options: Options,
): Promise<Measured> {
  let sent = 0;
  const driveOf =
    (address: string): Drive<GrpcReport> =>
    async (open) => {
      const run = await loadGrpc({ ...planOf(address, report, options), firstNumber: sent, ...open });
      noteErrors(address, run.errors);
      sent += run.requests + (run.errors['failed'] ?? 0);
      return run;
    };
  const { rounds } = options;
  const measured = await measureRounds(rounds, driveOf(floorAddress), driveOf(service.grpc), service.pid);
  const runs = [...measured.full, measured.half];
  return { ...measured, accepted: runs.reduce((sum, run) => sum + run.requests, 0) };
}

function planOf(
  address: string,
  { message, marks }: BenchReport,
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
    marks,
    answer: reportAnswer.toString('base64'),
    warmupSeconds: Math.min(1, seconds / 5),
    seconds,
  };
}

function print(options: Options, measured: Measured): void {
  const { json, connections, streams, seconds, rounds } = options;
  const result = { ...figuresOf(measured), connections };
  show(json, result, [
    ...speedRows('report', ['p50', 'p99'], measured),
    [],
    [`ratio to the floor ${result.ratio}, ${round(measured.cpuUs, 2)} µs CPU a report`],
    [
      `${connections} connections × ${streams} streams, ${rounds} × ${seconds} s each, 20 features × 2 variants a ` +
        'report; every count verified in the usage report',
    ],
  ]);
}

import type { GrpcPlan } from '../src/bench/load/plan.ts';
import { type BenchReport, encodeReport } from '../src/bench/load/reports.ts';
import { noteErrors } from './benchmark.ts';
import { besideFloor, type Comparison, type RoundOptions } from './beside-floor.ts';
import { loadGrpc } from './load-grpc.ts';
import { verifyCounts } from './service.ts';

/** Compares durable usage reports over gRPC with an empty grpc-js handler, driven by the same generator. */
export const reports: Comparison<'streams'> = {
  summary: 'durable usage reports per second over gRPC, compared with an empty grpc-js handler (the floor)',
  unit: 'report',
  defaults: { connections: 16, streams: 16, seconds: 10, rounds: 3 },
  small: { connections: 2, streams: 4, seconds: 0.1, rounds: 1 },
  floors: { floor: ['floor-grpc.ts'] },
  async begin(service, options) {
    const since = new Date();
    const report = encodeReport(service.key, since);
    let firstNumber = 0;
    let accepted = 0;
    return {
      async drive(floor, open) {
        const address = floor ?? service.grpc;
        const run = await loadGrpc({ ...createPlan(address, report, options), firstNumber, ...open });
        noteErrors(address, run.errors);
        firstNumber += run.sent;
        if (floor === undefined) accepted += run.requests;
        return run;
      },
      verify: () => verifyCounts(service, [{ body: '', counts: report.counts }], [accepted], since),
      summarize: () => ({
        remarks: [
          `${options.streams} streams each`,
          '20 features × 2 variants a report; every count verified in the usage report',
        ],
      }),
    };
  },
};

export const grpc = besideFloor(reports);

function createPlan(
  address: string,
  { message, positions, response }: BenchReport,
  { connections, streams, seconds }: RoundOptions<'streams'>,
): Omit<GrpcPlan, 'firstNumber'> {
  const [host, port] = address.split(':') as [string, string];
  return {
    protocol: 'grpc',
    host,
    port: Number(port),
    connections,
    streams,
    path: '/Usage.Usage/SendStats',
    message: message.toString('base64'),
    positions,
    response: response.toString('base64'),
    warmupSeconds: Math.min(1, seconds / 5),
    seconds,
  };
}

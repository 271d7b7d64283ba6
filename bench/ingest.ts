import { createPackets } from '../src/bench/load/packets.ts';
import type { Benchmark } from './benchmark.ts';
import { besideFloor, type Comparison } from './beside-floor.ts';
import { addTo, round } from './numbers.ts';
import { countSeries, createMix } from './packets.ts';
import { rssMb } from './process-stats.ts';
import { commitsIn, middle } from './rounds.ts';
import { sendPackets, verifyCounts } from './service.ts';

/** Compares durable packets with the bare HTTP engine, and with a server that only imitates an ingest. */
export const packets: Comparison<'series'> = {
  summary: 'durable telemetry packets per second, compared with the bare HTTP engine (the floor)',
  unit: 'packet',
  defaults: { connections: 256, seconds: 10, rounds: 3, series: 210 },
  small: { connections: 8, seconds: 0.25, rounds: 1, series: 210 },
  serve: ['--max-features', '10000'],
  floors: { floor: ['floor.ts'], skeleton: ['floor.ts', 'headers', 'bytes', 'group', 'cors'] },
  quantiles: ['p50', 'p90', 'p99', 'p999'],
  async begin(service, { connections, seconds, series }) {
    const since = new Date();
    const mix = createMix(series);
    const packets = createPackets(mix, service.key);
    const accepted: number[] = [];
    const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
    return {
      async drive(floor, open) {
        const report = await sendPackets(floor ?? service.http, packets, { ...plan, ...open });
        if (floor === undefined) addTo(accepted, report.accepted);
        return report;
      },
      verify: () => verifyCounts(service, packets, accepted, since),
      summarize(measured) {
        const commits = commitsIn(measured);
        const memory = round(rssMb(service.pid), 1);
        return {
          figures: { rssMb: memory, cpuUsPerPacket: round(middle(measured.service, 'cpuUs'), 2), commits },
          remarks: [
            `${memory} MiB resident`,
            `${countSeries(mix)} series`,
            `${commits ?? 'unknown'} commits; every count verified in the usage report`,
          ],
        };
      },
    };
  },
};

const comparison = besideFloor(packets);

/**
 * Numbers of connections. Many connections show the cost of a packet; few connections show the duration of a commit.
 */
const everyConnections = ['256', '64'];

/**
 * Compares durable packets with the bare HTTP engine, and with a server that only imitates an ingest. The same
 * generator drives all of them alternately. There is a result for each number of connections, but only one result with
 * `--json`, `--small` or `--connections`.
 */
export const ingest: Benchmark = {
  ...comparison,
  async run(args) {
    const one = ['--json', '--small', '--connections'].some((option) => args.join('=').includes(option));
    if (one) return comparison.run(args);
    for (const connections of everyConnections) await comparison.run([...args, '--connections', connections]);
  },
};

import { join } from 'node:path';
import { type BenchPacket, createPackets } from '../src/bench/load/packets.ts';
import { cleanUp, startProcess } from '../test/support/binary.ts';
import { frontThreads } from '../test/support/front-threads.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { createMix } from './packets.ts';
import { sendPackets, startService, verifyCounts } from './service.ts';
import { ThreadCosts } from './thread-costs.ts';

interface Server {
  readonly name: string;
  readonly http: string;
  readonly costs: ThreadCosts;
  readonly rps: number[];
  readonly p50: number[];
  readonly p99: number[];
  /** Number of times that each packet was accepted, by index of the packet. */
  readonly accepted: number[];
}

/**
 * Compares the bare HTTP engine with the service at different numbers of front-end threads. All get the same packets
 * alternately.
 */
export const threads: Benchmark = {
  summary: 'durable packets per second, latencies and CPU by thread, with several numbers of front-end threads',
  usage:
    '[--json] [--threads 0,1,2,3] [--connections 256] [--seconds 3] [--rounds 3] [--warmup 4] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 256, seconds: 3, rounds: 3, warmup: 4 };
    const small = { connections: 8, seconds: 0.1, rounds: 1, warmup: 0.1 };
    const options = readOptions(args, defaults, small, { threads: [0, 1, 2, 3] });
    const { connections, seconds, rounds } = options;
    const plan = { connections, seconds, warmupSeconds: 0 };
    try {
      const since = new Date();
      const services = [];
      for (const count of options.threads) services.push(await startThreads(options.binary, count));
      const { http, pid } = await startProcess(process.execPath, [join(import.meta.dirname, 'floor.ts')]);
      const floor = server('floor', http, pid);
      const all = [{ server: floor, packets: services[0]!.packets }, ...services];
      for (const each of all) await drive(each, { ...plan, seconds: options.warmup });
      for (let turn = 1; turn <= rounds; turn += 1) {
        for (const each of all) await each.server.costs.measure(() => measured(each, plan));
        note(`round ${turn} of ${rounds}`);
      }
      for (const { service, packets, server } of services) await verifyCounts(service, packets, server.accepted, since);
      print(options.json, [floor, ...services.map((each) => each.server)], connections);
    } finally {
      cleanUp();
    }
  },
};

async function startThreads(binary: string, count: number) {
  const service = await startService(binary, ['--max-features', '10000', ...frontThreads(count)]);
  const packets = createPackets(createMix(210), service.key);
  return { service, packets, server: server(`--threads ${count}`, service.metrics, service.pid) };
}

function server(name: string, http: string, pid: number): Server {
  return { name, http, costs: new ThreadCosts(pid), rps: [], p50: [], p99: [], accepted: [] };
}

interface Driven {
  readonly server: Server;
  readonly packets: readonly BenchPacket[];
}

type Plan = Parameters<typeof sendPackets>[2];

async function drive({ server: { http, accepted }, packets }: Driven, plan: Plan) {
  const report = await sendPackets(http, packets, plan);
  for (const [index, count] of report.accepted.entries()) accepted[index] = (accepted[index] ?? 0) + count;
  return report;
}

async function measured(each: Driven, plan: Plan): Promise<number> {
  const { requests, rps, p50, p99 } = await drive(each, plan);
  each.server.rps.push(rps);
  each.server.p50.push(p50);
  each.server.p99.push(p99);
  return requests;
}

const roles = ['main', 'front', 'journal', 'fold', 'runtime'] as const;

function print(json: boolean, servers: readonly Server[], connections: number): void {
  const floor = servers[0]!;
  const rows = servers.map(({ name, costs, rps, p50, p99 }) => ({
    name,
    rps: round(median(rps)),
    ratio: round(median(rps.map((each, turn) => each / floor.rps[turn]!)), 2),
    p50Ms: round(median(p50), 2),
    p99Ms: round(median(p99), 2),
    cpuUs: round(costs.all, 1),
    threads: Object.fromEntries(roles.map((role) => [role, round(costs.of(role), 1)])),
  }));
  const figures = rows.flatMap(({ name, rps, p50Ms, p99Ms, cpuUs }) =>
    Object.entries({ rps, p50Ms, p99Ms, cpuUs }).map(([figure, value]) => [`${name} ${figure}`, value]),
  );
  show(json, { connections, ...Object.fromEntries(figures) }, [
    ['', 'packets/s', 'ratio', 'p50 ms', 'p99 ms', 'µs CPU/packet', ...roles],
    ...rows.map(({ name, rps, ratio, p50Ms, p99Ms, cpuUs, threads }) => {
      const figures = [rps, ratio, p50Ms, p99Ms, cpuUs, ...roles.map((role) => threads[role])];
      return [name, ...figures.map(String)];
    }),
    [`${connections} connections; every count verified in the usage report`],
  ]);
}

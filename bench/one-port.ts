import { createPackets } from '../src/bench/load/packets.ts';
import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { addTo, median, round } from './numbers.ts';
import { thousandSeries } from './packets.ts';
import { driveInTurn, middle, type Target } from './rounds.ts';
import { sendPackets, startService, verifyCounts } from './service.ts';

/** Compares both listeners of one service with the same packets, alternately. The gRPC port also accepts HTTP/1.1. */
export const onePort: Benchmark = {
  summary: 'packets per second over HTTP/1.1 on one port with gRPC, compared with the HTTP listener',
  usage: '[--json] [--connections 64] [--seconds 5] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 64, seconds: 5, rounds: 3 };
    const options = readOptions(args, defaults, { connections: 4, seconds: 0.25, rounds: 1 });
    try {
      const { targets, verify } = await startListeners('flagmeter', options.binary, options);
      const [http, one] = await driveInTurn(options.rounds, targets, {});
      await verify();
      const ratios = one!.runs.map((run, turn) => run.rps / http!.runs[turn]!.rps);
      const result = {
        httpRps: round(middle(http!, 'rps')),
        rps: round(middle(one!, 'rps')),
        ratio: round(median(ratios), 2),
        httpCpuUs: round(middle(http!, 'cpuUs'), 1),
        cpuUs: round(middle(one!, 'cpuUs'), 1),
      };
      const { connections, rounds, seconds } = options;
      show(options.json, { ...result, connections }, [
        ['', 'packets/s', 'µs CPU/packet'],
        ['HTTP listener', `${result.httpRps}`, `${result.httpCpuUs}`],
        ['one port', `${result.rps}`, `${result.cpuUs}`],
        [],
        [
          `ratio ${result.ratio}, ${connections} connections, ${rounds} × ${seconds} s each; every count verified in the usage report`,
        ],
      ]);
    } finally {
      cleanUp();
    }
  },
};

/** The listeners of a service, as targets of the same packets. The gRPC listener also accepts HTTP/1.1. */
export interface Listeners {
  readonly targets: readonly [http: Target, one: Target];
  /** Checks the counts of all runs. @throws {Error} if they are wrong */
  verify(): Promise<void>;
}

/** Starts a service that receives packets on both listeners. */
export async function startListeners(
  name: string,
  binary: string,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<Listeners> {
  const since = new Date();
  const service = await startService(binary, ['--max-features', '10000']);
  const packets = createPackets(thousandSeries, service.key);
  const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
  const accepted: number[] = [];
  const target = (listener: string, address: string): Target => ({
    name: `${name}, ${listener}`,
    pid: service.pid,
    async drive(open) {
      const report = await sendPackets(address, packets, { ...plan, ...open });
      addTo(accepted, report.accepted);
      return report;
    },
  });
  return {
    targets: [target('HTTP listener', service.http), target('one port', service.grpc)],
    verify: () => verifyCounts(service, packets, accepted, since),
  };
}

import { packetsOf, thousandSeries } from '../src/bench/load/packets.ts';
import type { LoadReport } from '../src/bench/load/plan.ts';
import { cpuSeconds } from '../src/bench/load/process-stats.ts';
import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { type Service, sendPackets, startService, verifyCounts } from './service.ts';

/** The same packets to both listeners of one service, in turn: the gRPC listener serves them as one port does. */
export const onePort: Benchmark = {
  summary: 'packets per second over HTTP/1.1 on one port with gRPC, compared with the HTTP listener',
  usage: '[--json] [--connections 64] [--seconds 5] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 64, seconds: 5, rounds: 3 };
    const options = readOptions(args, defaults, { connections: 4, seconds: 0.25, rounds: 1 });
    try {
      const since = new Date();
      const service = await startService(options.binary, ['--max-features', '10000']);
      const packets = packetsOf(thousandSeries, service.key);
      const { connections, seconds } = options;
      const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
      const drive = (address: string) => measured(service, () => sendPackets(address, packets, plan));
      const rounds: { readonly http: Measured; readonly one: Measured }[] = [];
      for (let turn = 1; turn <= options.rounds; turn += 1) {
        const http = await drive(service.http);
        const one = await drive(service.grpc);
        note(`round ${turn}: HTTP listener ${round(http.rps)}/s, one port ${round(one.rps)}/s`);
        rounds.push({ http, one });
      }
      const runs = rounds.flatMap(({ http, one }) => [http, one]);
      const accepted = packets.map((_, index) => runs.reduce((sum, run) => sum + run.accepted[index]!, 0));
      await verifyCounts(service, packets, accepted, since);
      const middle = (of: (each: (typeof rounds)[0]) => number, digits = 0) =>
        round(median(rounds.map(of)), digits);
      const result = {
        httpRps: middle(({ http }) => http.rps),
        rps: middle(({ one }) => one.rps),
        ratio: middle(({ http, one }) => one.rps / http.rps, 2),
        httpCpuUs: middle(({ http }) => http.cpuUs, 1),
        cpuUs: middle(({ one }) => one.cpuUs, 1),
      };
      show(options.json, { ...result, connections }, [
        ['', 'packets/s', 'µs CPU/packet'],
        ['HTTP listener', `${result.httpRps}`, `${result.httpCpuUs}`],
        ['one port', `${result.rps}`, `${result.cpuUs}`],
        [],
        [
          `ratio ${result.ratio}, ${connections} connections, ${rounds.length} × ${seconds} s each; every count verified in the usage report`,
        ],
      ]);
    } finally {
      cleanUp();
    }
  },
};

type Measured = LoadReport & { readonly cpuUs: number };

async function measured({ pid }: Service, drive: () => Promise<LoadReport>): Promise<Measured> {
  const before = cpuSeconds(pid);
  const report = await drive();
  return { ...report, cpuUs: ((cpuSeconds(pid) - before) * 1e6) / report.requests };
}

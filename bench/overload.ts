import { createPackets, ingestMix, requestText } from '../src/bench/load/packets.ts';
import type { HttpPlan, LoadReport } from '../src/bench/load/plan.ts';
import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { load } from './load.ts';
import { round } from './numbers.ts';
import { cpuSeconds } from './process-stats.ts';
import { readCommits, type Service, startService, verifyCounts } from './service.ts';

/** Offered load, relative to the peak throughput. */
const factors = [1, 2, 5];

/**
 * With this number of connections, no packet is refused, because the number of waiting packets stays below the limit.
 */
const calmConnections = 256;

/** Measures the throughput when clients send more than the service accepts, and retry immediately. */
export const overload: Benchmark = {
  summary: 'accepted packets per second while 1, 2 and 5 times the capacity is offered',
  usage: '[--json] [--connections 2000] [--seconds 5] [--high 600] [--low 300] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 2_000, seconds: 5, high: 600, low: 300 };
    const options = readOptions(args, defaults, { connections: 64, seconds: 0.25, high: 24, low: 12 });
    try {
      const since = new Date();
      const { high, low } = options;
      const watermarks = { 'queue-high-packets': high, 'queue-low-packets': low, 'batch-packets': high };
      const watermarkArgs = Object.entries(watermarks).flatMap(([name, value]) => [`--${name}`, String(value)]);
      const service = await startService(options.binary, watermarkArgs);
      const measured = await measure(service, options);
      await verifyCounts(service, createPackets(ingestMix, service.key), measured.accepted, since);
      print(options.json, measured);
    } finally {
      cleanUp();
    }
  },
};

/** A run at a fixed offered rate. Counts are per second. */
interface Run {
  readonly offered: number;
  readonly taken: number;
  readonly refused: number;
  readonly commits: number;
  readonly p99Ms: number;
  /** CPU time of the service per response, µs. */
  readonly cpuUs: number;
}

interface OverloadMeasurement {
  /** Packets accepted per second if no packet is refused. */
  readonly capacity: number;
  readonly runs: readonly Run[];
  readonly accepted: readonly number[];
}

type Options = Readonly<Record<'connections' | 'seconds' | 'high', number>>;

async function measure(service: Service, { connections, seconds, high }: Options): Promise<OverloadMeasurement> {
  const [host, port] = service.http.split(':') as [string, string];
  const requests = createPackets(ingestMix, service.key).map((packet) => requestText(packet, service.http));
  const reports: LoadReport[] = [];
  const send = async (plan: Omit<HttpPlan, 'host' | 'port' | 'requests' | 'seconds'>) => {
    const report = await load({ host, port: Number(port), requests, seconds, ...plan });
    noteLost(report);
    reports.push(report);
    return report;
  };
  const calm = { connections: Math.min(calmConnections, high - 1), warmupSeconds: Math.min(1, seconds / 5) };
  const { rps: capacity } = await send(calm);
  const runs: Run[] = [];
  for (const factor of factors) {
    const before = { commits: (await readCommits(service.http)) ?? 0, cpu: cpuSeconds(service.pid) };
    // Each run sends at least one request, even if the machine stalled during the first run.
    const rate = Math.max(factor * capacity, 1 / seconds);
    const report = await send({ connections, rate, overload: true, warmupSeconds: 0 });
    const commits = ((await readCommits(service.http)) ?? 0) - before.commits;
    runs.push(summarizeRun(report, commits, cpuSeconds(service.pid) - before.cpu));
    note(`${factor} × ${round(capacity)}/s offered: ${round(runs.at(-1)!.taken)}/s accepted`);
  }
  return { capacity, runs, accepted: requests.map((_, at) => sum(reports.map((each) => each.accepted[at]!))) };
}

function summarizeRun({ requests, errors, seconds, p99 }: LoadReport, commits: number, cpu: number): Run {
  const refused = errors['503'] ?? 0;
  const responses = requests + refused;
  return {
    offered: round(responses / seconds),
    taken: round(requests / seconds),
    refused: round(refused / seconds),
    commits: round(commits / seconds),
    p99Ms: round(p99, 1),
    cpuUs: round((cpu * 1e6) / responses, 1),
  };
}

/** Reports lost packets. Under any load, the only expected responses are 202 and 503. */
function noteLost({ errors: { 503: _, ...lost } }: LoadReport): void {
  if (Object.keys(lost).length === 0) return;
  note(`NEITHER ACCEPTED NOR REFUSED: ${JSON.stringify(lost)}`);
  process.exitCode = 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function print(json: boolean, { capacity, runs }: OverloadMeasurement): void {
  const peak = Math.max(capacity, ...runs.map(({ taken }) => taken));
  const kept = round(runs.at(-1)!.taken / peak, 3);
  const result = { capacity: round(capacity), peak: round(peak), kept, runs };
  show(json, result, [
    ['', 'answered/s', 'taken/s', 'refused/s', 'commits/s', 'p99 ms', 'µs CPU a response'],
    ...runs.map((run, at) => [`${factors[at]} × ${round(capacity)}/s offered`, ...Object.values(run).map(String)]),
    [`${round(kept * 100)} % of the peak is accepted under the highest load; every count verified in the usage report`],
  ]);
}

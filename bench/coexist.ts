import { type BenchPacket, createPackets, ingestMix } from '../src/bench/load/packets.ts';
import type { HttpPlan, LoadReport } from '../src/bench/load/plan.ts';
import { cleanUp, token } from '../test/support/binary.ts';
import { type Benchmark, note, noteErrors, readOptions, show } from './benchmark.ts';
import { load } from './load.ts';
import { median, round } from './numbers.ts';
import { type Service, sendPackets, startService, verifyCounts } from './service.ts';

/** Number of connections that issue tokens before the measurement. */
const minters = 32;

/** Measures the rate of token invalidations, and their effect on packets. */
export const coexist: Benchmark = {
  summary: 'token invalidations per second, and latency of packets alone and during invalidations',
  usage:
    '[--json] [--connections 64] [--callers 64] [--tokens 12000] [--rate 10000] [--beside 500] [--seconds 5] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { ...bounds, tokens: 12_000, rate: 10_000, beside: 500, seconds: 5, rounds: 3 };
    const small = { connections: 8, callers: 4, tokens: 20, rate: 200, beside: 20, seconds: 0.2, rounds: 1 };
    const options = readOptions(args, defaults, small);
    try {
      const since = new Date();
      const service = await startService(options.binary, ['--token-rate', '0']);
      const packets = createPackets(ingestMix, service.key);
      const invalidations = await invalidateAll(service, options);
      const tokens = await mint(service, options.rounds * tokensOfRound(options));
      const warmup = await send(service, packets, options);
      const rounds: Round[] = [];
      for (let turn = 1; turn <= options.rounds; turn += 1)
        rounds.push(await measureRound(service, packets, tokens, { ...options, turn }));
      await verifyCounts(service, packets, acceptedIn(warmup, rounds), since);
      print(options, invalidations, rounds);
    } finally {
      cleanUp();
    }
  },
};

const bounds = { connections: 64, callers: 64 };

type Options = Readonly<
  Record<'connections' | 'callers' | 'tokens' | 'rate' | 'beside' | 'seconds' | 'rounds', number>
>;

/** Two runs with packets at a fixed rate: one without and one during invalidations. */
interface Round {
  readonly alone: LoadReport;
  readonly beside: LoadReport;
  readonly invalidations: LoadReport;
}

/** Invalidates tokens at full speed. Each caller has one request in progress. */
async function invalidateAll(service: Service, { callers, tokens }: Options): Promise<LoadReport> {
  const plan = { connections: callers, seconds: 3600, warmupSeconds: 0, limit: tokens };
  return invalidate(service, await mint(service, tokens), plan);
}

/**
 * Measures a round. Every other round starts with the run during invalidations, so that both runs are affected equally
 * by the previous run.
 */
async function measureRound(
  service: Service,
  packets: readonly BenchPacket[],
  tokens: string[],
  options: Options & { readonly turn: number },
): Promise<Round> {
  const besideFirst = options.turn % 2 === 0;
  const own = tokens.splice(0, tokensOfRound(options));
  const before = besideFirst ? undefined : await send(service, packets, options);
  const [beside, invalidations] = await Promise.all([
    send(service, packets, options),
    invalidate(service, own, { ...divideTime(options), connections: 8, rate: options.beside }),
  ]);
  const alone = before ?? (await send(service, packets, options));
  const rate = round(invalidations.rps);
  note(
    `round ${options.turn}: p99 alone ${round(alone.p99, 2)} ms, during ${rate} invalidations/s ${round(beside.p99, 2)} ms`,
  );
  return { alone, beside, invalidations };
}

function send(service: Service, packets: readonly BenchPacket[], options: Options): Promise<LoadReport> {
  const { connections, rate } = options;
  return sendPackets(service.http, packets, { ...divideTime(options), connections, rate });
}

function divideTime({ seconds }: Options): { readonly seconds: number; readonly warmupSeconds: number } {
  return { seconds, warmupSeconds: Math.min(1, seconds / 5) };
}

function tokensOfRound(options: Options): number {
  const { seconds, warmupSeconds } = divideTime(options);
  return Math.ceil(options.beside * (seconds + warmupSeconds)) + 1;
}

async function mint(service: Service, count: number): Promise<string[]> {
  const tokens: string[] = [];
  let begun = 0;
  const one = async () => {
    for (; begun < count; ) {
      begun += 1;
      tokens.push(await token(service.http, service.credentials));
    }
  };
  await Promise.all(Array.from({ length: minters }, one));
  return tokens;
}

async function invalidate(
  { http }: Service,
  tokens: readonly string[],
  plan: Omit<HttpPlan, 'host' | 'port' | 'status' | 'requests'>,
): Promise<LoadReport> {
  const [host, port] = http.split(':') as [string, string];
  const requests = tokens.map(
    (bearer) =>
      `POST /api/account/invalidate-token HTTP/1.1\r\nHost: ${http}\r\nAuthorization: Bearer ${bearer}\r\nContent-Length: 0\r\n\r\n`,
  );
  const report = await load({ ...plan, host, port: Number(port), requests, status: 200 });
  noteErrors(http, report.errors);
  return report;
}

/** Adds up the accepted packets of all runs, by index of the packet. */
function acceptedIn(warmup: LoadReport, rounds: readonly Round[]): number[] {
  const runs = [warmup, ...rounds.flatMap(({ alone, beside }) => [alone, beside])].map(({ accepted }) => accepted);
  return warmup.accepted.map((_, index) => runs.reduce((sum, run) => sum + (run[index] ?? 0), 0));
}

function print(
  { json, rate, seconds, callers }: Options & { readonly json: boolean },
  invalidations: LoadReport,
  rounds: readonly Round[],
): void {
  const middle = (of: (each: Round) => number, decimals = 2) => round(median(rounds.map(of)), decimals);
  const result = {
    invalidationsPerSecond: round(invalidations.rps),
    invalidationP99Ms: round(invalidations.p99, 2),
    besidePerSecond: middle((each) => each.invalidations.rps, 0),
    besideP99Ms: middle((each) => each.invalidations.p99),
    aloneP50Ms: middle((each) => each.alone.p50),
    aloneP99Ms: middle((each) => each.alone.p99),
    p50Ms: middle((each) => each.beside.p50),
    p99Ms: middle((each) => each.beside.p99),
    ratio: middle((each) => each.beside.p99 / each.alone.p99),
  };
  show(json, result, [
    [`${result.invalidationsPerSecond} invalidations/s by ${callers} callers, p99 ${result.invalidationP99Ms} ms`],
    [],
    [`${rate} packets/s`, 'p50 ms', 'p99 ms'],
    ['alone', `${result.aloneP50Ms}`, `${result.aloneP99Ms}`],
    [`during ${result.besidePerSecond} invalidations/s`, `${result.p50Ms}`, `${result.p99Ms}`],
    [],
    [`p99 during invalidations is ${result.ratio} of p99 alone; ${rounds.length} × ${seconds} s each`],
  ]);
}

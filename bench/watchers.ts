import { type BenchPacket, createPackets } from '../src/bench/load/packets.ts';
import type { LoadReport } from '../src/bench/load/plan.ts';
import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { thousandSeries } from './packets.ts';
import { type Service, sendPackets, startService, verifyCounts } from './service.ts';

/** Polling interval of a console page. */
const everyMs = 2000;

/** Measures how console pages that poll affect packets. */
export const watchers: Benchmark = {
  summary: 'latency of packets alone, and next to pages that poll the overview every two seconds',
  usage:
    '[--json] [--pages 50] [--connections 64] [--rate 5000] [--seconds 10] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { pages: 50, connections: 64, rate: 5000, seconds: 10, rounds: 3 };
    const small = { pages: 3, connections: 4, rate: 100, seconds: 0.3, rounds: 1 };
    const options = readOptions(args, defaults, small);
    try {
      const since = new Date();
      const service = await startService(options.binary);
      const packets = createPackets(thousandSeries, service.key);
      const reports = [await send(service, packets, options)];
      const rounds: Round[] = [];
      for (let turn = 1; turn <= options.rounds; turn += 1) {
        const measured = await measureRound(service, packets, options, turn);
        rounds.push(measured);
        reports.push(measured.alone, measured.beside);
      }
      const accepted = reports[0]!.accepted.map((_, index) =>
        reports.reduce((sum, report) => sum + (report.accepted[index] ?? 0), 0),
      );
      await verifyCounts(service, packets, accepted, since);
      print(options, rounds);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<Record<'pages' | 'connections' | 'rate' | 'seconds' | 'rounds', number>>;

interface Round {
  readonly alone: LoadReport;
  readonly beside: LoadReport;
  readonly pages: ResponseCounts;
}

interface ResponseCounts {
  changed: number;
  unchanged: number;
  bytes: number;
}

/**
 * Measures a round. Every other round starts with the run that has pages, so that both runs are affected equally by the
 * previous run.
 */
async function measureRound(
  service: Service,
  packets: readonly BenchPacket[],
  options: Options,
  turn: number,
): Promise<Round> {
  const before = turn % 2 === 0 ? undefined : await send(service, packets, options);
  const pages = { changed: 0, unchanged: 0, bytes: 0 };
  const ending = new AbortController();
  const looking = Array.from({ length: options.pages }, (_, page) =>
    look(service, (page * everyMs) / options.pages, pages, ending.signal),
  );
  const beside = await send(service, packets, options);
  ending.abort();
  await Promise.all(looking);
  const alone = before ?? (await send(service, packets, options));
  note(`round ${turn}: p99 alone ${round(alone.p99, 2)} ms, with pages ${round(beside.p99, 2)} ms`);
  return { alone, beside, pages };
}

/** Opens a simulated console page, which polls for changes every two seconds. */
async function look(service: Service, startMs: number, pages: ResponseCounts, ending: AbortSignal): Promise<void> {
  const url = `http://${service.http}/api/v2/applications/${service.applicationId}/overview?environment=Production`;
  let etag = '';
  let next = startMs;
  while (!ending.aborted) {
    await wait(next, ending);
    if (ending.aborted) return;
    const began = performance.now();
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${service.accessToken}`, 'accept-encoding': 'gzip', 'if-none-match': etag },
    });
    const { byteLength } = await response.arrayBuffer();
    if (response.status !== 200 && response.status !== 304)
      throw new Error(`a page got the response ${response.status}`);
    pages[response.status === 200 ? 'changed' : 'unchanged'] += 1;
    pages.bytes += byteLength;
    etag = response.headers.get('etag') ?? '';
    next = Math.max(0, everyMs - (performance.now() - began));
  }
}

function wait(ms: number, ending: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ending.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function send(
  service: Service,
  packets: readonly BenchPacket[],
  { connections, rate, seconds }: Options,
): Promise<LoadReport> {
  return sendPackets(service.http, packets, { connections, rate, seconds, warmupSeconds: Math.min(1, seconds / 5) });
}

function print({ json, pages, rate, seconds }: Options & { readonly json: boolean }, rounds: readonly Round[]): void {
  const middle = (of: (each: Round) => number) => round(median(rounds.map(of)), 2);
  const answered = rounds.reduce((sum, each) => sum + each.pages.changed + each.pages.unchanged, 0);
  const result = {
    pages,
    answered,
    aloneP50Ms: middle(({ alone }) => alone.p50),
    aloneP99Ms: middle(({ alone }) => alone.p99),
    p50Ms: middle(({ beside }) => beside.p50),
    p99Ms: middle(({ beside }) => beside.p99),
    ratio: middle(({ alone, beside }) => beside.p99 / alone.p99),
  };
  show(json, result, [
    [`${rate} packets/s`, 'p50 ms', 'p99 ms'],
    ['alone', `${result.aloneP50Ms}`, `${result.aloneP99Ms}`],
    [`with ${pages} pages`, `${result.p50Ms}`, `${result.p99Ms}`],
    [],
    [
      `p99 with pages is ${result.ratio} of p99 alone; ${rounds.length} × ${seconds} s each; ${answered} responses to pages`,
    ],
  ]);
}

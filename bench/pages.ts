import { requestText } from '../src/bench/load/packets.ts';
import {
  type Credentials,
  cleanUp,
  createApplication,
  createKey,
  freshDirectory,
  startBinary,
  stop,
  token,
} from '../test/support/binary.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { load } from './load.ts';
import { round } from './numbers.ts';
import { ownMb, rssMb } from './process-stats.ts';
import { fillHistory, findNumbers, flagsWithUsers } from './report-store.ts';
import { prepareStore } from './service.ts';

const hourMs = 3_600_000;

/** Polling interval of a console page. */
const everyMs = 2000;

const sampleMs = 100;
const featuresPerPacket = 20;

/** The ranges that the pages show, with their steps. */
const ranges = [
  { hours: 1, step: 'minute' },
  { hours: 6, step: 'minute' },
  { hours: 24, step: 'hour' },
  { hours: 7 * 24, step: 'hour' },
  { hours: 30 * 24, step: 'day' },
  { hours: 90 * 24, step: 'day' },
] as const;

/** Measures the resident memory of a server while many console pages show a large store. */
export const pages: Benchmark = {
  summary: 'resident memory next to polling console pages on a store of many flags and many days',
  usage:
    '[--json] [--flags 2000] [--days 90] [--hours 3] [--pages 50] [--seconds 40] [--rate 200] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { flags: 2000, days: 90, hours: 3, pages: 50, seconds: 40, rate: 200 };
    const small = { flags: 20, days: 3, hours: 1, pages: 4, seconds: 0.5, rate: 20 };
    const options = readOptions(args, defaults, small);
    try {
      await measure(options);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<Record<'flags' | 'days' | 'hours' | 'pages' | 'seconds' | 'rate', number>> & {
  readonly binary: string;
  readonly json: boolean;
};

export interface Store {
  readonly data: string;
  readonly credentials: Credentials;
  readonly application: string;
  /** Key of the type Mobile. */
  readonly key: string;
}

/** Creates the store of a service with one environment that was used in every hour. */
export async function makeStore({
  binary,
  flags,
  days,
  hours,
}: Pick<Options, 'binary' | 'flags' | 'days' | 'hours'>): Promise<Store> {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepareStore(data, binary);
  const service = await startBinary({ data, binary });
  const access = await token(service.http, credentials);
  const application = await createApplication(service.http, access, { name: 'bench' });
  const { key } = await createKey(service.http, access, application, 'Mobile');
  await stop(service);
  const { environments, ...numbers } = await findNumbers(data, application);
  const use = { flags, days, hoursADay: 24, minuteHours: hours };
  await fillHistory(data, [{ ...numbers, ...use, environment: environments[0]! }], Date.now());
  return { data, credentials, application, key };
}

async function measure(options: Options): Promise<void> {
  const { data, credentials, application, key } = await makeStore(options);
  const args = ['--api-rate', '0', '--rate', '0', '--max-features', '5000'];
  const service = await startBinary({ data, binary: options.binary, args });
  const idle = readMemory(service.pid);
  const most = { ...idle };
  const sampling = setInterval(() => {
    const { rssMb, ownMb } = readMemory(service.pid);
    most.rssMb = Math.max(most.rssMb, rssMb);
    most.ownMb = Math.max(most.ownMb, ownMb);
  }, sampleMs);
  const ending = new AbortController();
  const responses: ResponseCounts = { count: 0, slowestMs: 0, statuses: {} };
  const base = `http://${service.http}/api/v2/applications/${application}`;
  const authorization = `Bearer ${await token(service.http, credentials)}`;
  const open = Array.from({ length: options.pages }, (_, page) =>
    openPage({ base, authorization, page, responses, ending: ending.signal }, options),
  );
  const [host, port] = service.http.split(':') as [string, string];
  await load({
    host,
    port: Number(port),
    requests: createRequests(options.flags, key, service.http),
    connections: 4,
    rate: options.rate,
    seconds: options.seconds,
    warmupSeconds: 0,
  });
  ending.abort();
  await Promise.all(open);
  clearInterval(sampling);
  const end = readMemory(service.pid);
  await stop(service);
  const { count, slowestMs, statuses } = responses;
  const by = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`);
  show(options.json, { idle, most, end, ...responses, slowestMs: round(slowestMs) }, [
    ['MiB', 'resident', 'without file pages'],
    ['before', `${idle.rssMb}`, `${idle.ownMb}`],
    ['most', `${most.rssMb}`, `${most.ownMb}`],
    ['at the end', `${end.rssMb}`, `${end.ownMb}`],
    [],
    [`${count} responses to ${options.pages} pages (${by.join(', ')}), the slowest in ${round(slowestMs)} ms`],
  ]);
}

/** Returns packets that together contain every flag. */
export function createRequests(flags: number, key: string, host: string): string[] {
  const packets = Array.from({ length: Math.ceil(flags / featuresPerPacket) }, (_, packet) => {
    const names = Array.from({ length: featuresPerPacket }, (_, at) => `flag-${packet * featuresPerPacket + at}`);
    const f = Object.fromEntries(names.map((name) => [name, { on: [1, 1], off: [1] }]));
    return { body: JSON.stringify({ k: key, e: 'Production', f }), counts: new Map() };
  });
  return packets.map((packet) => requestText(packet, host));
}

interface ResponseCounts {
  count: number;
  slowestMs: number;
  readonly statuses: Record<number, number>;
}

interface OpenPage {
  /** URL of the application. */
  readonly base: string;
  readonly authorization: string;
  readonly page: number;
  readonly responses: ResponseCounts;
  readonly ending: AbortSignal;
}

/** Opens a simulated console page, which polls for changes. */
async function openPage(
  { base, authorization, page, responses, ending }: OpenPage,
  { pages, flags }: Options,
): Promise<void> {
  const etags = new Map<string, string>();
  let next = (page * everyMs) / pages;
  let turn = 0;
  while (!ending.aborted) {
    await wait(next, ending);
    if (ending.aborted) return;
    const began = performance.now();
    for (const path of listPaths(page, flags, turn)) {
      const etag = etags.get(path);
      const asked = performance.now();
      const response = await fetch(`${base}${path}`, {
        headers: { authorization, 'accept-encoding': 'gzip', ...(etag && { 'if-none-match': etag }) },
      });
      await response.arrayBuffer();
      responses.slowestMs = Math.max(responses.slowestMs, performance.now() - asked);
      const found = response.headers.get('etag');
      if (found !== null) etags.set(path, found);
      responses.count += 1;
      responses.statuses[response.status] = (responses.statuses[response.status] ?? 0) + 1;
    }
    turn += 1;
    next = Math.max(0, everyMs - (performance.now() - began));
  }
}

/**
 * Lists the paths that a console page requests. Two of three pages show all flags, and every third page shows one flag.
 * Pages request slow reports less often.
 */
function listPaths(page: number, flags: number, turn: number): readonly string[] {
  const { hours, step } = ranges[page % ranges.length]!;
  const width = { minute: 60_000, hour: hourMs, day: 24 * hourMs }[step];
  // Some pages show a range in the past, which a user has selected in a chart.
  const to = Math.ceil((Date.now() + 1) / width) * width - (page % 5 === 4 ? page * width : 0);
  const span = `environment=Production&from=${new Date(to - hours * hourMs).toISOString()}&to=${new Date(to).toISOString()}`;
  const range = `${span}&step=${step}`;
  const slow = turn % 5 === 0;
  if (page % 3 === 2) {
    const flag = `flag-${page % flags}`;
    const details = ['', '/senders?environment=Production', '/verdict?environment=Production', `/comparison?${span}`];
    return [`/usage?feature=${flag}&${range}`, ...(slow ? details.map((each) => `/features/${flag}${each}`) : [])];
  }
  if (page % 7 === 6) return [`/overview?${range}`, `/ingest?unnamed=true&${range}`];
  const rows = Array.from({ length: Math.min(flags, flagsWithUsers) }, (_, flag) => `&feature=flag-${flag}`);
  return [`/overview?${range}`, ...(slow ? [`/overview/users?${span}${rows.join('')}`] : [])];
}

function readMemory(pid: number) {
  return { rssMb: round(rssMb(pid), 1), ownMb: round(ownMb(pid), 1) };
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

import {
  cleanUp,
  createApplication,
  freshDirectory,
  manage,
  startBinary,
  stop,
  token,
} from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { fillHistory, findNumbers, flagsWithUsers } from './report-store.ts';
import { prepareStore } from './service.ts';

const dayMs = 86_400_000;

/** Measures the duration of the reports of the console, for ranges of different length. */
export const report: Benchmark = {
  summary: 'duration of console reports on a store of many flags and many days',
  usage: '[--json] [--flags 2000] [--days 90] [--hours 48] [--rounds 5] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { flags: 2000, days: 90, hours: 48, rounds: 5 };
    const options = readOptions(args, defaults, { flags: 20, days: 3, hours: 1, rounds: 1 });
    try {
      const store = await makeStore(options);
      const wanted = questions(options);
      const cold = new Map<string, number>();
      // A cold request is the first request to a newly started service. A small run starts only one service.
      for (const together of options.small ? [wanted] : wanted.map((each) => [each])) {
        const service = await open(options.binary, store);
        for (const { name, path } of together) cold.set(name, (await service.ask(path)).ms);
        await service.close();
      }
      const service = await open(options.binary, store);
      const warm = await askAll(service, wanted, options.rounds);
      await service.close();
      print(options, wanted, cold, warm);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<Record<'flags' | 'days' | 'hours' | 'rounds', number>> & {
  readonly binary: string;
  readonly json: boolean;
};

interface Store {
  readonly data: string;
  readonly credentials: Awaited<ReturnType<typeof prepareStore>>;
  readonly application: string;
  readonly now: number;
}

const environments = { all: 'Production', few: 'Few' } as const;

/** Creates a store with two environments: one with all flags, and one with a tenth of the flags. */
async function makeStore({ binary, flags, days, hours }: Options): Promise<Store> {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepareStore(data, binary);
  const service = await startBinary({ data, binary });
  const access = await token(service.http, credentials);
  const application = await createApplication(service.http, access, { name: 'bench' });
  const path = `/api/v2/applications/${application}/environments`;
  const shown = (await manage(service.http, access, 'GET', path, 200)) as { items: { name: string }[] };
  await manage(service.http, access, 'POST', path, 201, { name: environments.few });
  await stop(service);
  const numbers = await findNumbers(data, application);
  const began = performance.now();
  const now = Date.now();
  const common = { application: numbers.application, days, hoursADay: 24, minuteHours: hours };
  await fillHistory(
    data,
    [
      {
        ...common,
        environment: numbers.environments[shown.items.findIndex(({ name }) => name === environments.all)]!,
        flags,
      },
      { ...common, environment: numbers.environments.at(-1)!, flags: Math.max(1, flags / 10) },
    ],
    now,
  );
  note(`${flags} flags and ${days} days were filled in ${round((performance.now() - began) / 1000)} s`);
  return { data, credentials, application, now };
}

interface ResponseMeasurement {
  readonly ms: number;
  readonly bytes: number;
}

interface Open {
  ask(path: string): Promise<ResponseMeasurement>;
  close(): Promise<unknown>;
}

async function open(binary: string, { data, credentials, application }: Store): Promise<Open> {
  const service = await startBinary({ data, binary, args: ['--api-rate', '0'] });
  const authorization = `Bearer ${await token(service.http, credentials)}`;
  // The first report starts the report thread and opens the connection, so it is not measured.
  await fetch(`http://${service.http}/api/v2/applications/${application}/metrics`, { headers: { authorization } });
  return {
    async ask(path) {
      const began = performance.now();
      const url = `http://${service.http}/api/v2/applications/${application}${path}`;
      const response = await fetch(url, { headers: { authorization, 'accept-encoding': 'identity' } });
      const { byteLength } = await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
      return { ms: performance.now() - began, bytes: byteLength };
    },
    close: () => stop(service),
  };
}

interface Question {
  readonly name: string;
  readonly path: string;
}

function questions({ flags, days }: Options): readonly Question[] {
  const now = Date.now();
  const range = (of: number) => `from=${new Date(now - of * dayMs).toISOString()}&to=${new Date(now).toISOString()}`;
  const overview = (environment: string, of: number) => `/overview?environment=${environment}&${range(of)}`;
  const rows = Array.from({ length: Math.min(flags, flagsWithUsers) }, (_, flag) => `&feature=flag-${flag}`);
  const tenth = Math.max(1, Math.round(days / 10));
  const month = Math.max(1, Math.round(days / 3));
  return [
    ...[...new Set([days, month, tenth, Math.min(7, days)])].map((of) => ({
      name: `overview, ${flags} flags, ${of} d`,
      path: overview(environments.all, of),
    })),
    { name: `overview, ${Math.max(1, flags / 10)} flags, ${days} d`, path: overview(environments.few, days) },
    ...[...new Set([days, tenth])].map((of) => ({
      name: `one flag by hour, ${of} d`,
      path: `/usage?environment=${environments.all}&feature=flag-7&step=hour&${range(of)}`,
    })),
    {
      name: `activity, ${flags} flags, ${days} d`,
      path: `/activity?environment=${environments.all}&limit=200&${range(days)}`,
    },
    ...[...new Set([days, month, tenth])].map((of) => ({
      name: `users of ${rows.length} rows, ${of} d`,
      path: `/overview/users?environment=${environments.all}&${range(of)}${rows.join('')}`,
    })),
  ];
}

/** Requests all reports in rounds of more than a second, because overviews are computed at most once a second. */
async function askAll(
  service: Open,
  wanted: readonly Question[],
  rounds: number,
): Promise<Map<string, readonly ResponseMeasurement[]>> {
  const asked = new Map<string, ResponseMeasurement[]>(wanted.map(({ name }) => [name, []]));
  for (let turn = 0; turn <= rounds; turn += 1) {
    const next = new Promise((resolve) => setTimeout(resolve, 1100));
    for (const { name, path } of wanted) asked.get(name)!.push(await service.ask(path));
    await next;
  }
  return new Map([...asked].map(([name, answers]) => [name, answers.slice(1)]));
}

function print(
  { json, rounds }: Options,
  wanted: readonly Question[],
  cold: ReadonlyMap<string, number>,
  warm: ReadonlyMap<string, readonly ResponseMeasurement[]>,
): void {
  const figures = wanted.map(({ name }) => {
    const asked = warm.get(name)!;
    const times = asked.map(({ ms }) => ms);
    return {
      name,
      coldMs: round(cold.get(name)!, 1),
      warmMs: round(median(times), 1),
      bestMs: round(Math.min(...times), 1),
      kb: round(asked[0]!.bytes / 1000, 1),
    };
  });
  show(json, { figures }, [
    ['', 'cold ms', 'warm ms', 'best ms', 'kB'],
    ...figures.map(({ name, coldMs, warmMs, bestMs, kb }) => [name, `${coldMs}`, `${warmMs}`, `${bestMs}`, `${kb}`]),
    [],
    [`cold: the first request after startup; warm: the median of ${rounds} later requests, without cached results`],
  ]);
}

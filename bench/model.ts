import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { type Costs, type Machine, type SimulationResult, simulate } from './model-simulation.ts';
import { round } from './numbers.ts';

/** Costs that were measured on the machine of docs/contributing/performance.md. */
const measured: Costs = {
  accept: 11.7,
  main: 0.1,
  commit: 70,
  append: 1.1,
  flush: 150,
  transfer: 0.35,
  fold: 1.1,
  write: 0.3,
  runtime: 1.2,
  generator: 4.6,
};

const lanes = [
  { applications: 1, workers: 1 },
  { applications: 4, workers: 1 },
  { applications: 4, workers: 4 },
] as const;

/** The cores are reported as the limit if more than this share of them is in use. */
const full = 0.93;

interface Row extends SimulationResult, Machine {}

/** Calculates the throughput of machines with more cores from the measured cost of each step. */
export const model: Benchmark = {
  summary:
    'packets per second on 1 to 16 cores, calculated from the cost of each step: the best number of front-end threads',
  usage: '[--json] [--cores 1,2,4,8,12,16] [--connections 1024] [--costs FILE] [--small]',
  async run(args) {
    const { values, tokens } = parseArgs({ args, options: { costs: { type: 'string' } }, strict: false, tokens: true });
    const given = tokens.find((token) => token.kind === 'option' && token.name === 'costs');
    const rest = given === undefined ? args : args.toSpliced(given.index, 2);
    const options = readOptions(rest, { connections: 1024 }, { connections: 64 }, { cores: [1, 2, 4, 8, 12, 16] });
    const { connections } = options;
    const costs = { ...measured, ...(values.costs === undefined ? {} : readCosts(String(values.costs))) };
    const shared = simulate(costs, { ...lanes[0], cores: 2, threads: 0, connections: 256 });
    const alone = { ...costs, generator: 0 };
    const cores = options.small ? [2] : options.cores;
    const rows = lanes.flatMap((lane) => cores.map((count) => best(alone, { ...lane, cores: count, connections })));
    show(options.json, { sharedRps: round(shared.packetsPerSecond), ...Object.fromEntries(rows.map(named)) }, [
      ['applications', 'workers', 'cores', 'threads', 'packets/s', 'cores used', 'limit'],
      ...rows.map((row) => [
        ...[row.applications, row.workers, row.cores, row.threads].map(String),
        ...[String(Math.round(row.packetsPerSecond / 1000) * 1000), `${round(row.used * 100)} %`, describeLimit(row)],
      ]),
      [
        `two cores shared with the generator, no front-end thread: ${Math.round(shared.packetsPerSecond / 1000) * 1000} packets/s`,
      ],
    ]);
  },
};

function readCosts(file: string): Partial<Costs> {
  return JSON.parse(readFileSync(file, 'utf8')) as Partial<Costs>;
}

/** Returns the lowest number of threads whose throughput is within 1 % of the maximum. */
function best(costs: Costs, machine: Omit<Machine, 'threads'>): Row {
  const { cores, applications, workers, connections } = machine;
  const rows = Array.from({ length: cores + 1 }, (_, threads): Row => {
    const one = { cores, applications, workers, connections, threads };
    return { ...one, ...simulate(costs, one) };
  });
  const most = Math.max(...rows.map(({ packetsPerSecond }) => packetsPerSecond));
  return rows.find(({ packetsPerSecond }) => packetsPerSecond >= 0.99 * most)!;
}

function describeLimit({ limit, used }: Row): string {
  return used >= full ? 'cores' : limit;
}

function named({ applications, workers, cores, packetsPerSecond }: Row): [string, number] {
  return [`${applications} applications, ${workers} workers, ${cores} cores`, round(packetsPerSecond)];
}

import { join } from 'node:path';
import { createPackets } from '../src/bench/load/packets.ts';
import { cleanUp, startProcess } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { createMix } from './packets.ts';
import { sendPackets, startService } from './service.ts';
import { ThreadCosts } from './thread-costs.ts';

/** Steps that are added to the floor one by one: see floor.ts. */
const added = ['headers', 'bytes', 'group', 'cors'];

interface MeasuredServer {
  readonly name: string;
  readonly http: string;
  readonly costs: ThreadCosts;
}

/**
 * Compares the service with the bare HTTP engine, which performs an increasing number of steps of an ingest. All get
 * the same packets alternately.
 */
export const steps: Benchmark = {
  summary:
    'CPU of the main thread per packet, step by step: the bare HTTP engine, the steps of any ingest on it, the service',
  usage: '[--json] [--connections 256] [--seconds 1] [--rounds 5] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 256, seconds: 1, rounds: 5 };
    const options = readOptions(args, defaults, { connections: 8, seconds: 0.1, rounds: 1 });
    const { connections, seconds, rounds } = options;
    try {
      const service = await startService(options.binary, ['--max-features', '10000']);
      const packets = createPackets(createMix(210), service.key);
      const servers = [...(await startFloors()), measured('flagmeter', service)];
      const plan = { connections, seconds, warmupSeconds: seconds / 10 };
      // This load makes the runtime compile the code before the measurement.
      for (const server of servers) await sendPackets(server.http, packets, plan);
      for (let turn = 1; turn <= rounds; turn += 1) {
        for (const server of servers)
          await server.costs.measure(async () => (await sendPackets(server.http, packets, plan)).requests);
        note(`round ${turn} of ${rounds}`);
      }
      print(options.json, servers);
    } finally {
      cleanUp();
    }
  },
};

function startFloors(): Promise<MeasuredServer[]> {
  const path = join(import.meta.dirname, 'floor.ts');
  return Promise.all(
    ['floor', ...added].map(async (name, count) =>
      measured(name, await startProcess(process.execPath, [path, ...added.slice(0, count)])),
    ),
  );
}

function measured(name: string, { pid, http }: { readonly pid: number; readonly http: string }): MeasuredServer {
  return { name, http, costs: new ThreadCosts(pid) };
}

function print(json: boolean, servers: readonly MeasuredServer[]): void {
  const rows = servers.map(({ name, costs }) => ({ name, main: costs.of('main'), all: costs.all }));
  const differences = rows.map(({ main }, at) => main - (rows[at - 1]?.main ?? 0));
  const result = Object.fromEntries(rows.map(({ name, main }) => [`${name}Us`, round(main, 2)]));
  show(json, { ...result, cpuUs: round(rows.at(-1)!.all, 2) }, [
    ['', 'main thread, µs/packet', 'increase over the previous row', 'all threads'],
    ...rows.map(({ name, main, all }, at) => [
      name === 'floor' || name === 'flagmeter' ? name : `+ ${name}`,
      main.toFixed(2),
      at === 0 ? '' : differences[at]!.toFixed(2),
      all.toFixed(2),
    ]),
  ]);
}

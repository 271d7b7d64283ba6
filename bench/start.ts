import { statSync } from 'node:fs';
import { createPackets } from '../src/bench/load/packets.ts';
import { cleanUp, startBinary, stop } from '../test/support/binary.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { countSeries, thousandSeries } from './packets.ts';
import { sendPackets, startService } from './service.ts';

/** Measures the time until the service is ready on a store in use, and the size of the executable. */
export const start: Benchmark = {
  summary: 'time from spawn to ready on a store with 1 000 series, and the size of the executable',
  usage: '[--json] [--runs 10] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const options = readOptions(args, { runs: 10 }, { runs: 1 });
    try {
      const data = await storeInUse(options.binary);
      const times: number[] = [];
      for (let run = 0; run < options.runs; run++) times.push(await timeStart(options.binary, data));
      print(options.json, options.binary, times);
    } finally {
      cleanUp();
    }
  },
};

/** Fills a store with every series of the mix and returns its data directory. */
export async function storeInUse(binary: string): Promise<string> {
  const service = await startService(binary);
  const packets = createPackets(thousandSeries, service.key);
  const all = { connections: 4, warmupSeconds: 0, seconds: 60, limit: packets.length };
  await sendPackets(service.http, packets, all);
  await stop(service);
  return service.data;
}

/** Starts and stops an executable. @returns the time from its start until it is ready, ms */
export async function timeStart(binary: string, data: string): Promise<number> {
  const before = performance.now();
  const service = await startBinary({ binary, data });
  const elapsed = performance.now() - before;
  await stop(service);
  return elapsed;
}

/** Returns the size of an executable, MiB. */
export function sizeMb(binary: string): number {
  return statSync(binary).size / 2 ** 20;
}

function print(json: boolean, binary: string, times: readonly number[]): void {
  const result = {
    startMs: round(median(times), 1),
    minMs: round(Math.min(...times), 1),
    maxMs: round(Math.max(...times), 1),
    runs: times.length,
    series: countSeries(thousandSeries),
    binaryMb: round(sizeMb(binary), 1),
  };
  show(json, result, [
    ['start to ready, median', `${result.startMs} ms`],
    ['fastest', `${result.minMs} ms`],
    ['slowest', `${result.maxMs} ms`],
    ['starts', `${result.runs}`],
    ['series in the store', `${result.series}`],
    ['executable', `${result.binaryMb} MiB`],
  ]);
}

import { setTimeout as pause } from 'node:timers/promises';
import { createPackets } from '../src/bench/load/packets.ts';
import { cleanUp, stop } from '../test/support/binary.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { countSeries, thousandSeries } from './packets.ts';
import { peakRssMb, rssMb } from './process-stats.ts';
import { sendPackets, startService, verifyCounts } from './service.ts';

/** Measures resident memory after many packets that count many series. */
export const memory: Benchmark = {
  summary: 'resident memory after a million packets over 1 000 series',
  usage: '[--json] [--packets 1000000] [--connections 256] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { packets: 1_000_000, connections: 256 };
    const options = readOptions(args, defaults, { packets: 2_000, connections: 8 });
    try {
      const { packets, ...resident } = await measureMemory(options.binary, options);
      const [idleRssMb, rssMb, peakRssMb] = [resident.idle, resident.after, resident.peak].map((mebibytes) =>
        round(mebibytes, 1),
      );
      show(options.json, { packets, series: countSeries(thousandSeries), idleRssMb, rssMb, peakRssMb }, [
        ['packets accepted', `${packets}`],
        ['series', `${countSeries(thousandSeries)}`],
        ['resident before', `${idleRssMb} MiB`],
        ['resident after', `${rssMb} MiB`],
        ['peak resident memory', `${peakRssMb} MiB`],
      ]);
    } finally {
      cleanUp();
    }
  },
};

/** Time after which the runtime has freed the garbage of the startup. */
const settleMs = 1_000;

/** Resident memory of a service in MiB. */
export interface Resident {
  readonly packets: number;
  /** Memory before the packets, memory after the packets, and peak memory. */
  readonly idle: number;
  readonly after: number;
  readonly peak: number;
}

/** Sends packets to a fresh service. @throws {Error} if its counts are wrong */
export async function measureMemory(
  binary: string,
  { packets: limit, connections }: { readonly packets: number; readonly connections: number },
): Promise<Resident> {
  const since = new Date();
  const service = await startService(binary);
  await pause(settleMs);
  const idle = rssMb(service.pid);
  const packets = createPackets(thousandSeries, service.key);
  const sent = await sendPackets(service.http, packets, { connections, limit, warmupSeconds: 0, seconds: 3_600 });
  const resident = { idle, after: rssMb(service.pid), peak: peakRssMb(service.pid) };
  await verifyCounts(service, packets, sent.accepted, since);
  await stop(service);
  return { packets: sent.requests, ...resident };
}

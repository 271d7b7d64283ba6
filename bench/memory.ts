import { packetsOf, seriesOf, thousandSeries } from '../src/bench/load/packets.ts';
import { peakRssMb, rssMb } from '../src/bench/load/process-stats.ts';
import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { sendPackets, startService, verifyCounts } from './service.ts';

/** Resident memory after many packets over many series. */
export const memory: Benchmark = {
  summary: 'resident memory after a million packets over 1 000 series',
  usage: '[--json] [--packets 1000000] [--connections 256] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { packets: 1_000_000, connections: 256 };
    const options = readOptions(args, defaults, { packets: 2_000, connections: 8 });
    try {
      const since = new Date();
      const service = await startService(options.binary);
      const idleRssMb = round(rssMb(service.pid), 1);
      const packets = packetsOf(thousandSeries, service.key);
      const { connections } = options;
      const all = { connections, warmupSeconds: 0, seconds: 3_600, limit: options.packets };
      const sent = await sendPackets(service.http, packets, all);
      const resident = { rssMb: round(rssMb(service.pid), 1), peakRssMb: round(peakRssMb(service.pid), 1) };
      await verifyCounts(service, packets, sent.accepted, since);
      const result = { packets: sent.requests, series: seriesOf(thousandSeries), idleRssMb, ...resident };
      show(options.json, result, [
        ['packets accepted', `${result.packets}`],
        ['series', `${result.series}`],
        ['resident before', `${result.idleRssMb} MiB`],
        ['resident after', `${result.rssMb} MiB`],
        ['peak resident memory', `${result.peakRssMb} MiB`],
      ]);
    } finally {
      cleanUp();
    }
  },
};

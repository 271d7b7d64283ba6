import { setTimeout as pause } from 'node:timers/promises';
import { type BenchPacket, createPackets, ingestMix, requestText } from '../src/bench/load/packets.ts';
import type { LoadReport } from '../src/bench/load/plan.ts';
import { cleanUp, createApplication, createKey } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { load } from './load.ts';
import { round } from './numbers.ts';
import { createLargePackets } from './packets.ts';
import { peakRssMb, rssMb } from './process-stats.ts';
import { type Service, startService, verifyCounts } from './service.ts';

const quietRate = 50;
const quietConnections = 8;

/** Number of seconds after which the memory of received packets must be free again. */
const restSeconds = 10;

/** Measures how an application with few but large packets affects another application. */
export const noisyNeighbour: Benchmark = {
  summary:
    'latency of a quiet application next to another application that sends packets of 60 kB, and memory of the service',
  usage: '[--json] [--rate 374] [--kilobytes 60] [--connections 64] [--seconds 10] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { rate: 374, kilobytes: 60, connections: 64, seconds: 10, rest: restSeconds };
    const options = readOptions(args, defaults, { rate: 20, connections: 4, seconds: 0.2, rest: 0.1 });
    try {
      const since = new Date();
      const noisy = await startService(options.binary);
      const quiet = await createNeighbour(noisy);
      const large = createLargePackets(options.kilobytes * 1000, noisy.key);
      const small = createPackets(ingestMix, quiet.key);
      const measured = await measure(noisy, large, small, options);
      await verifyCounts(noisy, large, measured.noisy.accepted, since);
      print(options.json, measured);
    } finally {
      cleanUp();
    }
  },
};

async function createNeighbour(service: Service): Promise<Service> {
  const { http, accessToken } = service;
  const applicationId = await createApplication(http, accessToken, { name: 'quiet' });
  const { key } = await createKey(http, accessToken, applicationId, 'Frontend');
  return { ...service, applicationId, key };
}

interface NeighbourMeasurement {
  readonly alone: LoadReport;
  readonly beside: LoadReport;
  readonly noisy: LoadReport;
  readonly idleRssMb: number;
  readonly peakRssMb: number;
  readonly restedRssMb: number;
}

type Options = Readonly<Record<'rate' | 'connections' | 'seconds' | 'rest', number>>;

async function measure(
  { http, pid }: Service,
  large: readonly BenchPacket[],
  small: readonly BenchPacket[],
  { rate, connections, seconds, rest }: Options,
): Promise<NeighbourMeasurement> {
  const drive = (packets: readonly BenchPacket[], plan: { rate: number; connections: number }) => {
    const [host, port] = http.split(':') as [string, string];
    const requests = packets.map((packet) => requestText(packet, http));
    const warmupSeconds = Math.min(1, seconds / 5);
    return load({ host, port: Number(port), requests, seconds, warmupSeconds, ...plan });
  };
  const sendQuietly = () => drive(small, { rate: quietRate, connections: quietConnections });
  const alone = await sendQuietly();
  const idleRssMb = rssMb(pid);
  const [beside, noisy] = await Promise.all([sendQuietly(), drive(large, { rate, connections })]);
  await pause(rest * 1000);
  for (const [name, { errors }] of Object.entries({ alone, beside, noisy })) {
    if (Object.keys(errors).length > 0) note(`not accepted, ${name}: ${JSON.stringify(errors)}`);
  }
  return { alone, beside, noisy, idleRssMb, peakRssMb: peakRssMb(pid), restedRssMb: rssMb(pid) };
}

function print(json: boolean, { alone, beside, noisy, ...memory }: NeighbourMeasurement): void {
  const result = {
    noisyRps: round(noisy.rps),
    aloneP50Ms: round(alone.p50, 2),
    aloneP99Ms: round(alone.p99, 2),
    p50Ms: round(beside.p50, 2),
    p99Ms: round(beside.p99, 2),
    idleRssMb: round(memory.idleRssMb),
    peakRssMb: round(memory.peakRssMb),
    restedRssMb: round(memory.restedRssMb),
  };
  show(json, result, [
    ['', 'p50 ms', 'p99 ms'],
    ['quiet, alone', `${result.aloneP50Ms}`, `${result.aloneP99Ms}`],
    [`quiet, next to ${result.noisyRps} large packets/s`, `${result.p50Ms}`, `${result.p99Ms}`],
    [],
    [`resident: ${result.idleRssMb} MiB before, ${result.peakRssMb} at most, ${result.restedRssMb} at rest again`],
  ]);
}

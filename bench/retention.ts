import { createPackets } from '../src/bench/load/packets.ts';
import type { LoadReport } from '../src/bench/load/plan.ts';
import { cleanUp, startBinary, stop, usage } from '../test/support/binary.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { thousandSeries } from './packets.ts';
import { type Service, sendPackets, startService } from './service.ts';

const featuresPerReport = 250;
const reportsAtOnce = 16;
const minuteMs = 60_000;

/** Measures how the roll-up affects packets: their latency without a roll-up, and while a backlog is rolled up. */
export const retention: Benchmark = {
  summary: 'latency of packets without and during the roll-up of old buckets',
  usage:
    '[--json] [--minutes 2400] [--rate 10000] [--connections 64] [--seconds 8] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { minutes: 2_400, rate: 10_000, connections: 64, seconds: 8 };
    const options = readOptions(args, defaults, { minutes: 90, rate: 200, connections: 4, seconds: 1 });
    try {
      const service = await startService(options.binary);
      const now = Date.now();
      await fill(service, options.minutes, now);
      const before = await readOld(service, options.minutes, now);
      const without = await drive(service, options);
      await stop(service);

      const serverArgs = ['--rate', '0', '--keep-minutes', '1', '--auth-url', `http://${service.http}`];
      const settings = {
        data: service.data,
        binary: options.binary,
        args: [...serverArgs, '--base-url', `http://${service.http}`],
      };
      const rolling = { ...service, ...(await startBinary(settings)) };
      const during = await drive(rolling, options);
      const after = await readOld(rolling, options.minutes, now);
      if (after.checks !== before.checks) {
        throw new Error(`the roll-up changed a sum: ${before.checks} checks before, ${after.checks} after`);
      }
      const rolledUp = before.points - after.points;
      if (rolledUp === 0) throw new Error('nothing was rolled up while the packets were sent');
      show(options.json, figures(without, during, rolledUp), rows(without, during, rolledUp));
    } finally {
      cleanUp();
    }
  },
};

/** Reports usage in each minute of the past, except in the last two hours. */
async function fill(service: Service, minutes: number, now: number): Promise<void> {
  let next = 0;
  const send = async () => {
    for (let minute = next++; minute < minutes; minute = next++) {
      const time = new Date(now - (120 + minute) * minuteMs).toISOString();
      const stats = Array.from({ length: featuresPerReport }, (_, index) => ({
        feature: `old-${index}`,
        variantStats: { on: { checkCount: 1 }, off: { checkCount: 2 } },
      }));
      const body = JSON.stringify({ appKey: service.key, environment: 'Production', time, stats });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`http://${service.http}/api/usage/stats`, { method: 'POST', headers, body });
      if (response.status !== 200) throw new Error(`a report got the response ${response.status}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: reportsAtOnce }, send));
}

/** Returns all checks of one old feature, and the number of buckets of its first variant. */
async function readOld(service: Service, minutes: number, now: number): Promise<{ checks: number; points: number }> {
  const { features } = await usage(service.http, service.accessToken, service.applicationId, {
    environment: 'Production',
    feature: 'old-0',
    from: new Date(now - (180 + minutes) * minuteMs),
    to: new Date(now),
    step: 'minute',
  });
  return { checks: features[0]?.checks ?? 0, points: features[0]?.variants[0]?.series.length ?? 0 };
}

function drive(
  service: Service,
  { connections, seconds, rate }: { connections: number; seconds: number; rate: number },
): Promise<LoadReport> {
  const packets = createPackets(thousandSeries, service.key);
  return sendPackets(service.http, packets, { connections, seconds, rate, warmupSeconds: 0.5 });
}

function figures(without: LoadReport, during: LoadReport, bucketsRolledUp: number) {
  return {
    p50Ms: round(without.p50, 2),
    p99Ms: round(without.p99, 2),
    p50DuringMs: round(during.p50, 2),
    p99DuringMs: round(during.p99, 2),
    bucketsRolledUp,
  };
}

function rows(without: LoadReport, during: LoadReport, rolledUp: number): [string, string][] {
  const latency = ({ p50, p99, p999 }: LoadReport) =>
    `p50 ${round(p50, 2)} ms, p99 ${round(p99, 2)} ms, p999 ${round(p999, 2)} ms`;
  return [
    ['without roll-up', latency(without)],
    ['during roll-up', latency(during)],
    ['minute buckets rolled up', `${rolledUp} buckets of each series; all sums unchanged`],
  ];
}

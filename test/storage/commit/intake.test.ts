import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addPacket } from '../../../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket, type Packet } from '../../../src/ingest/formats/telemetry/packet.ts';
import { measurementsReport } from '../../../src/reports/usage/measurements-report.ts';
import { usageReport } from '../../../src/reports/usage/usage-report.ts';
import { createLog } from '../../../src/runtime/log.ts';
import type { Batch } from '../../../src/storage/commit/batch.ts';
import { Intake } from '../../../src/storage/commit/intake.ts';
import { SeriesDictionary } from '../../../src/storage/commit/series-dictionary.ts';
import { StoreHealth } from '../../../src/storage/lmdb/store-health.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { startTestCommitters } from '../../support/committers.ts';
import { finish } from '../../support/finish.ts';
import { roomyLimits, undelayed } from '../../support/roomy-intake.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const start = Date.UTC(2026, 0, 31, 12, 0);

/** Starts the packet path of the service from a checked packet to the disk, with real worker threads. */
async function startRun(data: string, workers: number, batchPackets: number) {
  const clock = { now: () => start, monotonic: () => 0 };
  const health = new StoreHealth({
    log: createLog('error', () => {}, clock),
    data,
    clock: { after: () => {} },
    fatal: (reason) => expect.unreachable(reason),
  });
  const store = openUsageTables(data);
  const committers = await startTestCommitters(store, data, { workers });
  const intake = new Intake(committers, health, undelayed(clock), { ...roomyLimits, batchPackets });
  const dictionary = new SeriesDictionary(store, { features: 1000, variants: 64, metrics: 1000 });
  return {
    store,
    send(application: number, packet: Packet, minute: number): Promise<void> {
      const at = start + minute * 60_000;
      const fill = (batch: Batch) => addPacket(packet, dictionary.of(application), batch, at);
      return intake.findLane(application).submit(application, fill);
    },
    async stop() {
      await intake.close();
      await store.lmdb.close();
    },
  };
}

const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', '🚩');
const counts = fc.array(fc.nat({ max: 2_147_483_647 }), { minLength: 1, maxLength: 3 });
// Sums of eighths are exact in any order.
const value = fc.integer({ min: -1e9, max: 1e9 }).map((eighths) => eighths / 8);
const createDictionary = <T>(values: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(name, values), { maxLength: 4 }).map((pairs) => {
    const text = pairs.map(([key, each]) => `${JSON.stringify(key)}:${JSON.stringify(each)}`).join(',');
    return JSON.parse(`{${text}}`) as Record<string, T>;
  });
const packet = fc
  .record({ f: createDictionary(createDictionary(counts)), m: createDictionary(value) })
  .map((body) => checkPacket({ k: 'k', e: 'e', ...body }));
const sent = fc.record({ application: fc.integer({ min: 1, max: 3 }), minute: fc.nat({ max: 130 }), packet });
const run = fc.record({
  workers: fc.integer({ min: 1, max: 3 }),
  batchPackets: fc.integer({ min: 1, max: 5 }),
  packets: fc.array(fc.record({ sent, wait: fc.boolean() }), { maxLength: 12 }),
});

test('the report equals the plain sum of any packets, for any batches, workers and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 3 }), async (runs) => {
      const data = temporaryDirectory();
      const naive = new Map<string, number>();
      for (const { workers, batchPackets, packets } of runs) {
        const service = await startRun(data, workers, batchPackets);
        const responses: Promise<void>[] = [];
        for (const { sent, wait } of packets) {
          responses.push(service.send(sent.application, sent.packet, sent.minute));
          addNaively(naive, sent.application, sent.packet);
          if (wait) await Promise.all(responses);
        }
        await Promise.all(responses);
        await service.stop();
      }
      expect(await readReports(data)).toEqual(naive);
    }),
    { numRuns: 15 },
  );
});

function addNaively(sums: Map<string, number>, application: number, packet: Packet): void {
  const add = (key: string, by: number) => sums.set(key, (sums.get(key) ?? 0) + by);
  for (const [feature, variants] of Object.entries(packet.f ?? {})) {
    for (const [variant, values] of Object.entries(variants)) {
      [0, 1, 2].forEach((index) => {
        add(`${application}/${feature}/${variant}/${index}`, values[index] ?? 0);
      });
    }
  }
  for (const [metric, amount] of Object.entries(packet.m ?? {})) {
    add(`${application}/${metric}/sum`, amount);
    add(`${application}/${metric}/count`, 1);
  }
}

async function readReports(data: string): Promise<Map<string, number>> {
  const store = openUsageTables(data);
  const found = new Map<string, number>();
  const from = start / 60_000;
  for (const number of [1, 2, 3]) {
    const environment = { name: 'e', number };
    const range = { from, to: from + 131, step: 'hour' } as const;
    for (const { feature, variants } of finish(usageReport(store, environment, range, undefined)).features) {
      for (const { variant, ...usage } of variants) {
        const prefix = `${number}/${feature}/${variant}`;
        found.set(`${prefix}/0`, usage.checks);
        found.set(`${prefix}/1`, usage.used);
        found.set(`${prefix}/2`, usage.viewed);
        const inSeries = usage.series.reduce((sum, [, checks]) => sum + checks, 0);
        expect(inSeries).toBe(usage.checks);
      }
    }
    const { metrics } = finish(measurementsReport(store, environment, range, undefined));
    for (const { metric, sum, count } of metrics) {
      found.set(`${number}/${metric}/sum`, sum);
      found.set(`${number}/${metric}/count`, count);
    }
  }
  await store.lmdb.close();
  return found;
}

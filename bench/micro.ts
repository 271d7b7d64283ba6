import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import { createPackets, ingestMix } from '../src/bench/load/packets.ts';
import { decodeText, parseJson } from '../src/http/body.ts';
import { TokenBucket } from '../src/ingest/admission/rate-limits.ts';
import { addPacket } from '../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket, type Packet } from '../src/ingest/formats/telemetry/packet.ts';
import { addCounts, addValue } from '../src/storage/aggregate/merge.ts';
import { createAggregator } from '../src/storage/commit/aggregator.ts';
import { Batch } from '../src/storage/commit/batch.ts';
import { RecordArrays } from '../src/storage/commit/record-buffer.ts';
import { EnvironmentSeries } from '../src/storage/commit/series-dictionary.ts';
import { countsCodec, measurementCodec } from '../src/storage/lmdb/blocks.ts';
import { openUsageTables } from '../src/storage/lmdb/usage.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { createMix } from './packets.ts';

/** Number of packets per measured iteration. A single packet takes too little time to be measured. */
const packetsPerIteration = ingestMix.features;

/** Measures each step of the packet path alone, in this process. */
export const micro: Benchmark = {
  summary:
    'nanoseconds a packet of each step: parse and validate, resolve, bucket, batch, merge, write to an increasing number of series',
  usage: '[--json] [--milliseconds 1000] [--small]',
  async run(args) {
    const options = readOptions(args, { milliseconds: 1_000 }, { milliseconds: 50 });
    const bench = new Bench({ time: options.milliseconds, warmupTime: options.milliseconds / 5 });
    for (const [name, step] of Object.entries(steps())) bench.add(name, step);
    const stores = [20, 2_000, 20_000].map(writing);
    for (const { name, step } of stores) bench.add(name, step);
    await bench.run();
    for (const { close } of stores) await close();
    const rows = bench.tasks.map((task) => [task.name, nanosPerPacket(task)] as const);
    const result = Object.fromEntries(rows.map(([name, nanos]) => [`${name}Ns`, nanos]));
    show(options.json, result, [['step', 'ns a packet'], ...rows.map(([name, nanos]) => [name, String(nanos)])]);
  },
};

/** Returns the steps of the packet path. In each step, all packets are processed. */
function steps(): Record<'parse' | 'resolve' | 'bucket' | 'batch' | 'merge', () => void> {
  const bodies = createPackets(ingestMix, 'a-frontend-key').map((packet) => Buffer.from(packet.body));
  const packets = bodies.map((body) => checkPacket(parseJson(decodeText(body))));
  const limits = { features: ingestMix.features, variants: 64, metrics: ingestMix.metrics };
  const series = new EnvironmentSeries(1, limits, []);
  const sink = { series: [], folded: 0, dropped: 0 };
  const bucket = new TokenBucket(1_000_000, 1_000_000, 0);
  const counts = countsCodec.empty();
  const measurement = measurementCodec.empty();
  const arrays = new RecordArrays();
  const records = { counts: packetsPerIteration * 6, measurements: packetsPerIteration * 2 };
  let now = 0;
  return {
    parse() {
      for (const body of bodies) checkPacket(parseJson(decodeText(body)));
    },
    resolve() {
      for (const { f } of packets) {
        for (const feature in f) for (const variant in f[feature]) series.variant(feature, variant, sink);
      }
    },
    bucket() {
      for (const _ of packets) bucket.take(now++);
    },
    batch() {
      const batch = new Batch(arrays);
      for (const packet of packets) addPacket(packet, series, batch, now);
    },
    merge() {
      for (let n = 0; n < records.counts; n++) addCounts(counts, 3, 1, 0);
      for (let n = 0; n < records.measurements; n++) addValue(measurement, 1.5, now++);
    },
  };
}

/**
 * Returns a step that writes a batch of packets, as a worker does. Packets count different series of the list. Most of
 * its time is disk access.
 */
function writing(series: number): { name: string; step: () => void; close: () => Promise<void> } {
  const directory = mkdtempSync(join(tmpdir(), 'flagmeter-micro-'));
  const store = openUsageTables(directory);
  const { write } = createAggregator(store);
  const mix = createMix(series);
  const packets = createPackets(mix, 'a-frontend-key').map(({ body }) => checkPacket(JSON.parse(body)));
  const dictionary = new EnvironmentSeries(1, { ...mix, variants: 64 }, []);
  const arrays = new RecordArrays();
  const writePackets = (chosen: readonly Packet[]) => {
    const batch = new Batch(arrays);
    for (const packet of chosen) addPacket(packet, dictionary, batch, 0);
    write(batch.seal());
    batch.release();
  };
  writePackets(packets);
  let turn = 0;
  return {
    name: `write${series}`,
    step() {
      turn += 1;
      const apart = packets.length / packetsPerIteration;
      writePackets(
        Array.from(
          { length: packetsPerIteration },
          (_, sender) => packets[Math.floor(sender * apart + turn) % packets.length]!,
        ),
      );
    },
    async close() {
      await store.lmdb.close();
      rmSync(directory, { recursive: true });
    },
  };
}

function nanosPerPacket(task: Bench['tasks'][number]): number {
  const { result } = task;
  if (result.state !== 'completed') throw new Error(`the step '${task.name}' did not complete: ${result.state}`);
  return round((result.latency.p50 * 1e6) / packetsPerIteration, 1);
}

import { createPackets, ingestMix } from '../../src/bench/load/packets.ts';
import { stop } from '../../test/support/binary.ts';
import { note } from '../benchmark.ts';
import { sendPackets } from '../service.ts';
import { atMost, type Figure, told } from './figure.ts';
import { untilShipped } from './shipping.ts';
import type { Stage } from './stage.ts';

/** Growth of PostgreSQL per second, and the actual rate of packets during the measurement. */
interface Growth {
  readonly rate: number;
  readonly entries: number;
  readonly bytes: number;
}

/** Measures how fast PostgreSQL grows at several rates of packets. The packets always count the same series. */
export async function growth(
  stage: Stage,
  { rates, seconds }: { readonly rates: readonly number[]; readonly seconds: number },
): Promise<Figure[]> {
  const measured: Growth[] = [];
  for (const rate of rates) {
    measured.push(await measure(stage, rate, seconds));
    const { entries, bytes } = measured.at(-1)!;
    note(`${rate} packets/s: ${entries.toFixed(2)} entries and ${bytes.toFixed(0)} bytes a second in the log`);
  }
  const least = measured[0]!;
  const most = measured.at(-1)!;
  return [
    ...measured.map(({ rate, bytes }) => told(`bytes a second in the log at ${rate} packets/s`, bytes, 'B')),
    atMost(`bytes at ${most.rate} packets/s, relative to ${least.rate} packets/s`, most.bytes / least.bytes, 1.5),
    atMost(`entries at ${most.rate} packets/s, relative to ${least.rate} packets/s`, most.entries / least.entries, 1.5),
  ];
}

async function measure(stage: Stage, rate: number, seconds: number): Promise<Growth> {
  const cluster = await stage.cluster();
  const node = await cluster.node();
  const packets = createPackets(ingestMix, node.key);
  const read = async () => {
    const [row] = await cluster.query<{ entries: string; bytes: string }>(
      "SELECT count(*) AS entries, coalesce(sum(octet_length(body)), 0) AS bytes FROM fm_entry WHERE kind = 'delta'",
    );
    return { entries: Number(row!.entries), bytes: Number(row!.bytes) };
  };
  // Before the measurement, these packets make the node ship the names of the series.
  await sendPackets(node.http, packets, { connections: 8, seconds: 60, warmupSeconds: 0, limit: packets.length });
  await untilShipped(cluster);
  const before = await read();
  const begun = performance.now();
  // On a busy machine, fewer packets are accepted. The generator omits packets that cannot be sent in time.
  const plan = { connections: 64, seconds, warmupSeconds: 0, rate, overload: true };
  const { rps } = await sendPackets(node.http, packets, plan);
  const took = ((await untilShipped(cluster)) - begun) / 1000;
  const after = await read();
  await stop(node);
  return {
    rate: Math.round(rps),
    entries: (after.entries - before.entries) / took,
    bytes: (after.bytes - before.bytes) / took,
  };
}

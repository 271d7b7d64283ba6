import type { Batch } from './batch.ts';
import type { Packet } from './packet.ts';
import type { EnvironmentSeries } from './series-dictionary.ts';

/** Adds all that a checked packet says to a batch, in the minute of `now` (Unix ms). */
export function addPacket(packet: Packet, series: EnvironmentSeries, batch: Batch, now: number): void {
  const minute = Math.floor(now / 60_000);
  for (const feature in packet.f) {
    const variants = packet.f[feature]!;
    for (const variant in variants) {
      const counts = variants[variant]!;
      const ref = series.variant(feature, variant, batch);
      batch.addCounts(ref, minute, counts[0]!, counts[1] ?? 0, counts[2] ?? 0);
    }
  }
  for (const metric in packet.m) {
    batch.addValue(series.metric(metric, batch), minute, packet.m[metric]!, now);
  }
}

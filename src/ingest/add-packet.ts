import { bucketOf, bucketWidth } from '../store/blocks.ts';
import type { Batch } from './batch.ts';
import type { Packet } from './packet.ts';
import type { EnvironmentSeries } from './series-dictionary.ts';
import type { UserHash } from './user-hash.ts';

/**
 * Adds all that a checked packet says to a batch, in the minute of `now` (Unix ms).
 * @param user whom the packet is attributed to
 */
export function addPacket(
  packet: Packet,
  series: EnvironmentSeries,
  batch: Batch,
  now: number,
  user?: UserHash,
): void {
  const minute = Math.floor(now / 60_000);
  const bucket = bucketOf(bucketWidth.minute, minute);
  const day = Math.floor(minute / 1440);
  for (const feature in packet.f) {
    const variants = packet.f[feature]!;
    for (const variant in variants) {
      const counts = variants[variant]!;
      const ref = series.variant(feature, variant, batch);
      batch.addCounts(ref, bucket, counts[0]!, counts[1] ?? 0, counts[2] ?? 0);
      if (user !== undefined) batch.addUser(ref, day, user.high, user.low);
    }
  }
  for (const metric in packet.m) {
    batch.addValue(series.metric(metric, batch), bucket, packet.m[metric]!, now);
  }
  if (user !== undefined) batch.addUser(series.whole, day, user.high, user.low);
}

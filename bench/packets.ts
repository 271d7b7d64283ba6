import type { BenchPacket, PacketMix } from '../src/bench/load/packets.ts';

/**
 * Returns a mix of packets, each with 3 features × 2 variants + 2 metrics. One in twenty series is a metric. The mix
 * has at least 2 and at most 20 metrics.
 */
export function createMix(series: number): PacketMix {
  const metrics = Math.min(20, Math.max(2, Math.floor(series / 20)));
  const features = Math.max(3, Math.floor((series - metrics) / 2));
  return { features, variants: 2, metrics, featuresPerPacket: 3, metricsPerPacket: 2 };
}

/** Packets for memory and startup: 490 features × 2 variants + 20 metrics = 1 000 series. */
export const thousandSeries: PacketMix = {
  features: 490,
  variants: 2,
  metrics: 20,
  featuresPerPacket: 3,
  metricsPerPacket: 2,
};

export function countSeries(mix: PacketMix): number {
  return mix.features * mix.variants + mix.metrics;
}

/** Number of variants of each feature in a large packet. */
const variantsOfLarge = 30;

/** Returns a few packets of a given size that contain as many counts as possible. 60 kB contain about 6 000 counts. */
export function createLargePackets(bytes: number, key: string): BenchPacket[] {
  return Array.from({ length: 4 }, (_, index) => {
    const counts = new Map<string, [number, number, number]>();
    const f: Record<string, Record<string, number[]>> = {};
    for (let size = 0, n = 0; size < bytes; n += 1) {
      const feature = `f${index}-${n}`;
      const variants: Record<string, number[]> = {};
      for (let at = 0; at < variantsOfLarge; at += 1) {
        variants[`v${at}`] = [1];
        counts.set(`${feature}/v${at}`, [1, 0, 0]);
      }
      f[feature] = variants;
      size += JSON.stringify(variants).length + feature.length + 4;
    }
    return { body: JSON.stringify({ k: key, e: 'Production', f }), counts };
  });
}

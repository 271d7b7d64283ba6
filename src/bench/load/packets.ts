/** A telemetry packet that a benchmark sends repeatedly, and the counts that each copy must add. */
export interface BenchPacket {
  readonly body: string;
  /** Counts by `feature/variant`. */
  readonly counts: ReadonlyMap<string, readonly [checks: number, used: number, viewed: number]>;
}

/** The number of features, variants, metrics and users in packets. */
export interface PacketMix {
  readonly features: number;
  readonly variants: number;
  readonly metrics: number;
  /** Features per packet, each with all of its variants. */
  readonly featuresPerPacket: number;
  readonly metricsPerPacket: number;
  /** Number of different users in the packets; 0 by default. */
  readonly users?: number;
}

/** The mix of the ingest benchmark: 100 features × 2 variants + 10 metrics = 210 series. */
export const ingestMix: PacketMix = {
  features: 100,
  variants: 2,
  metrics: 10,
  featuresPerPacket: 3,
  metricsPerPacket: 2,
};

/** Creates different packets, as browser SDKs send them. Together they contain all series and users of the mix. */
export function createPackets(mix: PacketMix, key: string): BenchPacket[] {
  const length = Math.max(mix.features, mix.users ?? 0);
  return Array.from({ length }, (_, index) => packetAt(index, mix, { k: key, e: 'Production' }));
}

function packetAt(index: number, mix: PacketMix, head: object): BenchPacket {
  const counts = new Map<string, [number, number, number]>();
  const f: Record<string, Record<string, number[]>> = {};
  for (let n = 0; n < mix.featuresPerPacket; n++) {
    const feature = `feature-${(index * mix.featuresPerPacket + n) % mix.features}`;
    f[feature] = {};
    for (let at = 0; at < mix.variants; at++) {
      const variant = ['on', 'off'][at] ?? `variant-${at}`;
      f[feature][variant] = at === 0 ? [3 + (index % 5), 1 + (index % 2), 1] : [2];
      counts.set(`${feature}/${variant}`, at === 0 ? [3 + (index % 5), 1 + (index % 2), 1] : [2, 0, 0]);
    }
  }
  const m: Record<string, number> = {};
  for (let n = 0; n < mix.metricsPerPacket; n++) {
    m[`metric.${(index * mix.metricsPerPacket + n) % mix.metrics}`] = 1.5 + index;
  }
  const user = mix.users ? { u: `user-${index % mix.users}` } : {};
  return { body: JSON.stringify({ ...head, f, m, ...user }), counts };
}

/** Formats a packet as the keep-alive request of a browser. */
export function requestText(packet: BenchPacket, http: string): string {
  return [
    'POST /api/frontend/telemetry HTTP/1.1',
    `Host: ${http}`,
    'Origin: https://shop.example.com',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(packet.body)}`,
    '',
    packet.body,
  ].join('\r\n');
}

/** Returns the counts of a service that accepted each packet `n` of the list exactly `accepted[n]` times. */
export function expectedCounts(
  packets: readonly Pick<BenchPacket, 'counts'>[],
  accepted: readonly number[],
): Map<string, [checks: number, used: number, viewed: number]> {
  const sums = new Map<string, [number, number, number]>();
  packets.forEach((packet, index) => {
    const times = accepted[index] ?? 0;
    for (const [series, [checks, used, viewed]] of packet.counts) {
      const sum = sums.get(series) ?? [0, 0, 0];
      sums.set(series, [sum[0] + times * checks, sum[1] + times * used, sum[2] + times * viewed]);
    }
  });
  return sums;
}

import { requestText } from '../../src/bench/load/packets.ts';

const featuresInPacket = 50;

/** Returns packets that together contain each of the series once. Features have two variants. */
export function packetsFor(series: number, key: string, http: string): string[] {
  const features = Math.ceil(series / 2);
  return Array.from({ length: Math.ceil(features / featuresInPacket) }, (_, packet) => {
    const names = Array.from(
      { length: Math.min(featuresInPacket, features - packet * featuresInPacket) },
      (_, at) => `feature-${packet * featuresInPacket + at}`,
    );
    const f = Object.fromEntries(names.map((name) => [name, { on: [3, 2, 1], off: [1] }]));
    return requestText({ body: JSON.stringify({ k: key, e: 'Production', f }), counts: new Map() }, http);
  });
}

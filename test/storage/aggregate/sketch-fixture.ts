import fc from 'fast-check';
import { HyperLogLog } from '../../../src/storage/aggregate/hyperloglog.ts';
import { type Hash64, hashIdentity } from '../../../src/storage/aggregate/user-hash.ts';
import { chunkValueBytes, writeChunk } from '../../../src/storage/lmdb/sketches.ts';

/** The number of the first user that is not in the crowded chunk. */
const spread = 600;

/** The hash of a fictitious user. The first 600 users share a chunk, and a few hundred users fill it. */
export function hashUser(number: number): Hash64 {
  const { high, low } = hashIdentity(String(number));
  return number < spread ? { high: ((high & 0x07ffffff) | 0x18000000) >>> 0, low } : { high, low };
}

/** A few users, or enough users to fill the crowded chunk, or occasionally enough users to fill every chunk. */
export const someUsers: fc.Arbitrary<readonly number[]> = fc
  .record({
    first: fc.oneof(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 0, max: 12_000 })),
    count: fc.oneof({ weight: 4, arbitrary: fc.integer({ max: 400, min: 0 }) }, fc.integer({ min: 0, max: 9000 })),
    stride: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ first, count, stride }) => Array.from({ length: count }, (_, index) => first + index * stride));

export function createSketch(users: Iterable<number>): HyperLogLog {
  const sketch = new HyperLogLog();
  for (const user of users) {
    const { high, low } = hashUser(user);
    sketch.add(high, low);
  }
  return sketch;
}

/** The stored form of a sketch. Equal sketches have equal forms. */
export function encodeSketch(sketch: HyperLogLog): ReadonlyMap<number, string> {
  const value = Buffer.alloc(chunkValueBytes);
  return new Map(
    [...sketch.contents()].map(([chunk, content]) => [
      chunk,
      value.subarray(0, writeChunk(value, content)).toString('hex'),
    ]),
  );
}

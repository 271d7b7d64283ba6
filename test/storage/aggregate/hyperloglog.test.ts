import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Chunk, HyperLogLog } from '../../../src/storage/aggregate/hyperloglog.ts';
import { hashIdentity, hashReported } from '../../../src/storage/aggregate/user-hash.ts';
import { readChunk, registersPerChunk, writeChunk } from '../../../src/storage/lmdb/sketches.ts';
import { seededRandom } from '../../support/random.ts';
import { createSketch, encodeSketch, hashUser, someUsers } from './sketch-fixture.ts';

const numRuns = 40;

describe('HyperLogLog.estimate', () => {
  const sizes = [1, 2, 5].flatMap((digit) => Array.from({ length: 8 }, (_, zeros) => digit * 10 ** zeros));
  const checkpoints = sizes.filter((size) => size <= 10_000_000).sort((a, b) => a - b);

  test('the estimate is within 2 % of the number of users, from 1 to 10 million', () => {
    const seeds = [1, 2, 3, 4];
    const errors = new Map(seeds.map((seed) => [seed, randomErrors(seed)]));
    const rows = checkpoints.map((users) => {
      const inPercent = seeds.map((seed) => `${(errors.get(seed)!.get(users)! * 100).toFixed(2)} %`.padStart(8));
      return `${String(users).padStart(9)} ${inPercent.join(' ')}`;
    });
    console.log(`users     relative error for seeds ${seeds.join(', ')}\n${rows.join('\n')}`);
    for (const bySize of errors.values()) {
      for (const [users, error] of bySize) {
        expect(Math.abs(error), `${users} users`).toBeLessThanOrEqual(users <= 5000 ? 0.001 : 0.02);
      }
    }
  });

  function randomErrors(seed: number): ReadonlyMap<number, number> {
    const random = seededRandom(seed);
    const sketch = new HyperLogLog();
    let users = 0;
    return new Map(
      checkpoints.map((size) => {
        for (; users < size; users++) {
          const high = Math.floor(random() * 2 ** 32);
          sketch.add(high, Math.floor(random() * 2 ** 32));
        }
        return [size, sketch.estimate() / size - 1];
      }),
    );
  }

  it.each([
    ['users with consecutive identities', (user: number) => hashIdentity(`user-${user}`)],
    ['users with consecutive reported hashes', (user: number) => hashReported(String(user))],
    ['users with distant reported hashes', (user: number) => hashReported(String(user * 65_536 - 2_147_483_648))],
  ])('the estimate is within 2 %% for up to 300 000 %s', (_, hash) => {
    const sketch = new HyperLogLog();
    let next = 1;
    for (let users = 1; users <= 300_000; users++) {
      const { high, low } = hash(users);
      sketch.add(high, low);
      if (users < next) continue;
      next = Math.ceil(users * 1.02);
      expect(Math.abs(sketch.estimate() / users - 1), `${users} users`).toBeLessThan(0.02);
    }
  });

  test('the estimate is exact for few users, and 0 without users', () => {
    for (const users of [0, 1, 2, 3, 10, 100]) {
      expect(createSketch(Array.from({ length: users }, (_, user) => 1000 + user)).estimate()).toBe(users);
    }
  });

  test('the estimate is finite if every register has its greatest rank', () => {
    const sketch = new HyperLogLog();
    const full = { registers: new Uint8Array(registersPerChunk).fill(50) };
    for (let chunk = 0; chunk < 32; chunk++) sketch.mergeChunk(chunk, full);
    expect(sketch.estimate()).toBe(2 ** 64);
  });
});

describe('HyperLogLog union', () => {
  const united = (...sets: (readonly number[])[]) => {
    const union = new HyperLogLog();
    for (const set of sets) union.merge(createSketch(set));
    return encodeSketch(union);
  };

  test('a union of sketches is exactly the sketch of all their users', () => {
    fc.assert(
      fc.property(someUsers, someUsers, (a, b) => {
        expect(united(a, b)).toEqual(encodeSketch(createSketch([...a, ...b])));
      }),
      { numRuns },
    );
  });

  test('a union does not depend on the order of its sketches, or on repeated sketches', () => {
    fc.assert(
      fc.property(someUsers, someUsers, someUsers, (a, b, c) => {
        const union = united(a, b, c);
        expect(united(c, b, a)).toEqual(union);
        expect(united(b, a, b, c, a)).toEqual(union);
        const right = createSketch(b);
        right.merge(createSketch(c));
        const left = createSketch(a);
        left.merge(right);
        expect(encodeSketch(left)).toEqual(union);
      }),
      { numRuns },
    );
  });

  test('computing a union does not change the united sketches', () => {
    const few = createSketch([1, 2, 3]);
    const union = new HyperLogLog();
    union.merge(few);
    union.merge(createSketch([4, 5, 6]));
    expect(encodeSketch(few)).toEqual(encodeSketch(createSketch([1, 2, 3])));
  });
});

/** The textbook HyperLogLog of one chunk, computed from the 64 bits. */
function textbook(users: readonly number[], chunk: number): Uint8Array {
  const registers = new Uint8Array(registersPerChunk);
  for (const user of users) {
    const { high, low } = hashUser(user);
    const bits = ((BigInt(high) << 32n) | BigInt(low)).toString(2).padStart(64, '0');
    if (Number.parseInt(bits.slice(0, 5), 2) !== chunk) continue;
    const register = Number.parseInt(bits.slice(5, 15), 2);
    const one = bits.slice(15).indexOf('1');
    registers[register] = Math.max(registers[register]!, (one < 0 ? 49 : one) + 1);
  }
  return registers;
}

describe('Chunk', () => {
  test('a chunk of coupons and a chunk of registers both have the registers of the textbook algorithm', () => {
    fc.assert(
      fc.property(someUsers, (users) => {
        for (const [chunk, content] of createSketch(users).contents()) {
          if (chunk % 8 !== 3) continue;
          const registers = new Chunk({ registers: new Uint8Array(registersPerChunk) });
          registers.merge(content);
          expect(registers.content.registers).toEqual(textbook(users, chunk));
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['no bit set below the register', 0, 0, 50],
    ['only the last bit', 0, 1, 49],
    ['the last bit of the upper half', 1, 0, 17],
    ['the first bit below the coupon’s prefix', 32, 0, 12],
    ['the first bit below the register', 1 << 16, 0, 1],
    ['the last bit of the coupon’s prefix', 64, 0, 11],
  ])('a chunk computes the right rank for a hash with %s', (_, high, low, rank) => {
    const sketch = new HyperLogLog();
    sketch.mergeChunk(0, { registers: new Uint8Array(registersPerChunk) });
    sketch.add(high, low);
    const [[, content] = []] = sketch.contents();
    expect(content?.registers?.[0]).toBe(rank);
  });

  test('adding a known user to a chunk of coupons or of registers reports no change', () => {
    fc.assert(
      fc.property(someUsers, (users) => {
        const sketch = createSketch(users);
        const state = encodeSketch(sketch);
        for (const user of users) {
          const { high, low } = hashUser(user);
          expect(sketch.add(high, low)).toBe(false);
        }
        expect(encodeSketch(sketch)).toEqual(state);
      }),
      { numRuns },
    );
  });

  test('a restored chunk equals the stored chunk, and users can be added to it', () => {
    const value = Buffer.alloc(769);
    fc.assert(
      fc.property(someUsers, someUsers, (before, after) => {
        const restored = new HyperLogLog();
        for (const [chunk, content] of createSketch(before).contents()) {
          const length = writeChunk(value, content);
          const read = readChunk(value.subarray(0, length));
          expect(read).toEqual(
            content.registers === undefined ? { coupons: content.coupons.slice() } : { registers: content.registers },
          );
          restored.mergeChunk(chunk, new Chunk(read).content);
        }
        restored.merge(createSketch(after));
        expect(encodeSketch(restored)).toEqual(encodeSketch(createSketch([...before, ...after])));
      }),
      { numRuns },
    );
  });
});

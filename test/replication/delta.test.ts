import { deflateSync, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { pack } from 'msgpackr';
import { expect, test } from 'vitest';
import { senderRoutes, transportNames } from '../../src/contract/message-routes.ts';
import { type Delta, decodeDelta, emptyContent, encodeDelta } from '../../src/replication/delta.ts';
import { DeltaUnreadable } from '../../src/replication/delta-columns.ts';
import { encodeBucket } from '../../src/storage/lmdb/blocks.ts';
import { encodeDimensions } from '../../src/storage/lmdb/ledger.ts';
import { chunkValueBytes, environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';

const word = fc.nat(2 ** 32 - 1);
const environment = fc.nat(70_000);
const ordinal = fc.nat(environmentOrdinal - 1);
const ref = fc.tuple(environment, ordinal).map(([number, place]) => number * 2 ** 20 + place);
const bucket = fc.tuple(fc.constantFrom(0, 1, 2), word).map(([width, minute]) => encodeBucket(width as 0, minute));
const amount = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e300, noNaN: true }).map(Math.round));
const value = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0);
const time = fc.nat(2 ** 41);
const name = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 });
const rows = (...columns: fc.Arbitrary<number>[]) => {
  return fc.array(fc.tuple(...columns), { maxLength: 20 }).map((found) => found.flat());
};
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const sketch = fc
  .record({ chunk: fc.nat(31), prefixes: fc.uniqueArray(fc.nat(2 ** 21 - 1), { minLength: 1 }) })
  .map(({ chunk, prefixes }) => {
    const coupons = prefixes.sort((one, other) => one - other).map((each) => chunk * 2 ** 27 + each * 64 + 1);
    const content = Buffer.alloc(1 + 4 * coupons.length);
    for (const [at, coupon] of coupons.entries()) content.writeUInt32LE(coupon, 1 + at * 4);
    return { ref: 7, day: 20_000, chunk, value: content };
  });
const registers = fc.constant({ ref: 9, day: 1, chunk: 3, value: Buffer.alloc(chunkValueBytes, 0).fill(1, 0, 1) });

const exposures = fc.record({
  environment,
  digest: bytes(16),
  rows: rows(ordinal, word, word, amount, amount, amount),
});
const unresolved = fc.record({
  application: environment,
  environment,
  digest: bytes(16),
  hash: bytes(32),
  seconds: word,
  rows: rows(ref, word, amount, amount, amount),
});
const transport = fc.constantFrom(...transportNames);
const route = fc.constantFrom(...senderRoutes);
const subject = fc.record({
  environment: fc.option(environment),
  transport,
  route,
  outcome: fc.constantFrom('accepted', 'refused', 'noted'),
  status: fc.nat(999),
  code: fc.option(name),
  userAgent: fc.option(fc.string({ unit: 'grapheme', maxLength: 200 })),
  instance: fc.option(name),
});

const subjectTexts = subject.map((each) => encodeDimensions(each as never));

const delta = fc.record({
  stream: name,
  seq: fc.integer({ min: 1 }),
  since: time,
  version: time,
  through: time,
  series: fc.array(
    fc.record({
      environment,
      ordinal,
      name: fc.oneof(fc.tuple(name), fc.tuple(name, fc.oneof(name, fc.constant(''))), fc.tuple(name, name, name)),
    }),
  ),
  counts: rows(ref, bucket, amount, amount, amount),
  measurements: rows(ref, bucket, value, fc.integer({ min: 1 }), value, time, value, value),
  sketches: fc.array(fc.oneof(sketch, registers)),
  seen: rows(ref, word, word),
  exposures: fc.array(exposures),
  messages: fc.array(
    fc.record({
      identity: bytes(16),
      at: time,
      counts: rows(ref, bucket, amount, amount, amount),
      measurements: rows(ref, bucket, value, time),
      users: rows(ref, word, word, word),
      exposures: fc.array(exposures),
      unresolved: fc.array(unresolved),
    }),
  ),
  senders: fc.array(
    fc.record({
      environment,
      ordinal,
      name: fc.string(),
      version: fc.option(name),
      transport,
      route,
      first: word,
      last: word,
    }),
  ),
  ledger: fc.array(
    fc.record({
      application: environment,
      hour: word,
      subject: subjectTexts,
      count: fc.integer({ min: 1 }),
      lastAt: time,
      example: fc.option(fc.record({ origin: fc.string(), detail: fc.string() })),
    }),
  ),
  uses: fc.array(fc.record({ application: environment, digest: bytes(16), hash: bytes(32), expiresAt: time })),
  unresolved: fc.array(unresolved),
  cumulative: fc.array(
    fc.record({
      identity: bytes(16),
      at: time,
      sender: fc.oneof(bytes(0), bytes(16)),
      repeats: fc.nat(3),
      stop: time,
      length: time,
      interval: time,
      subject: fc.oneof(fc.constant(''), subjectTexts),
      bucket,
      measuredAt: time,
      rows: rows(ref, fc.nat(15), value),
    }),
  ),
  totals: fc.array(
    fc.record({
      application: environment,
      digest: bytes(16),
      ref,
      bucket,
      value: amount,
      at: time,
      received: time,
      fresh: fc.nat(1),
    }),
  ),
}) as fc.Arbitrary<Delta>;

/** Converts byte arrays of any class to instances of `Uint8Array`. */
const plain = (each: unknown): unknown => {
  if (each instanceof Uint8Array) return Uint8Array.from(each);
  if (Array.isArray(each)) return each.map(plain);
  if (typeof each !== 'object' || each === null) return each;
  return Object.fromEntries(Object.entries(each).map(([key, held]) => [key, plain(held)]));
};

test('decoding an encoded delta returns the same delta', () => {
  fc.assert(
    fc.property(delta, (sent) => {
      expect(plain(decodeDelta(encodeDelta(sent)))).toEqual(plain(sent));
    }),
  );
});

test('an invalid row of a delta does not affect other rows of its kind', () => {
  const counts = [1, 4, 1, 0, 0, 2, 4, -1, 0, 0, 3, 4, 1, 0, 0];
  const refused: unknown[][] = [];
  const body = encodeDelta({ ...empty, counts });
  const read = decodeDelta(body, (...row) => void refused.push(row));
  expect(read.counts).toEqual([1, 4, 1, 0, 0, 3, 4, 1, 0, 0]);
  expect(refused).toEqual([['counts', 'it has invalid counts', '[2,4,-1,0,0]']]);
});

/** Reads an arbitrary body. It must be a valid delta or fail with `DeltaUnreadable`. */
function readAnything(body: Uint8Array): void {
  try {
    const read = decodeDelta(body, body.length % 2 === 0 ? undefined : () => {});
    for (const each of [read.counts, read.measurements, read.seen]) expect(each.every(Number.isFinite)).toBe(true);
  } catch (error) {
    expect(error).toBeInstanceOf(DeltaUnreadable);
  }
}

test('decoding arbitrary bytes returns a valid delta or fails with DeltaUnreadable', () => {
  const body = (packed: Uint8Array) => Buffer.concat([Buffer.of(1), deflateSync(packed)]);
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }).map((packed) => Buffer.concat([Buffer.of(1), packed])),
    fc.uint8Array({ maxLength: 300 }).map(body),
    fc.array(fc.anything(), { minLength: 14, maxLength: 18 }).map((fields) => body(pack(fields))),
  );
  fc.assert(fc.property(anything, readAnything), { numRuns: 500 });
});

test('decoding a modified body returns a valid delta or fails with DeltaUnreadable', () => {
  const altered = fc.record({ delta, at: fc.nat(), to: fc.nat(255), cut: fc.nat() }).map((how) => {
    const packed = inflateSync(encodeDelta(how.delta).subarray(1));
    packed[how.at % packed.length] = how.to;
    const kept = how.cut % 4 === 0 ? packed.subarray(0, how.cut % packed.length) : packed;
    return Buffer.concat([Buffer.of(1), deflateSync(kept)]);
  });
  fc.assert(fc.property(altered, readAnything), { numRuns: 500 });
});

const empty: Delta = { stream: 's', seq: 1, since: 0, version: 0, through: 0, ...emptyContent() };

const line = { application: 1, hour: 1, count: 1, lastAt: 1, example: null };
const coupons = (...found: number[]) => {
  const content = Buffer.alloc(1 + 4 * found.length);
  for (const [at, coupon] of found.entries()) content.writeUInt32LE(coupon, 1 + at * 4);
  return { ref: 0, day: 1, chunk: 0, value: content };
};

test.each<[string, Partial<Delta>]>([
  ['a count that is not a number', { counts: [1, 4, Number.NaN, 0, 0] }],
  ['a negative count', { counts: [1, 4, -1, 0, 0] }],
  ['an incomplete row', { counts: [1, 4, 1, 0] }],
  ['a bucket without a width', { counts: [1, 3, 1, 0, 0] }],
  ['counts of an environment as a whole', { counts: [environmentOrdinal, 4, 1, 0, 0] }],
  ['an infinite sum', { measurements: [1, 4, Number.POSITIVE_INFINITY, 1, 1, 1, 1, 1] }],
  ['an empty name', { series: [{ environment: 1, ordinal: 1, name: ['', 'on'] }] }],
  ['a name with control characters', { series: [{ environment: 1, ordinal: 1, name: ['a\n', 'on'] }] }],
  ['coupons out of order', { sketches: [coupons(129, 65)] }],
  ['coupons of another chunk', { sketches: [{ ...coupons(65), chunk: 1 }] }],
  ['a coupon without a rank', { sketches: [coupons(64)] }],
  ['a coupon with too high a rank', { sketches: [coupons(64 + 63)] }],
  [
    'a register with too high a rank',
    { sketches: [{ ...coupons(), value: Buffer.alloc(chunkValueBytes, 255).fill(1, 0, 1) }] },
  ],
  ['a subject that is not canonical', { ledger: [{ ...line, subject: '[1, null]' }] }],
  ['a subject that ends a row', { ledger: [{ ...line, subject: '[1],2,3,4],[5' }] }],
  ['a short digest', { uses: [{ application: 1, digest: Buffer.alloc(15), hash: Buffer.alloc(32), expiresAt: 1 }] }],
])('a delta with %s is unreadable', (_, part) => {
  const body = encodeDelta({ ...empty, ...part });
  expect(() => decodeDelta(body)).toThrow(DeltaUnreadable);
  const refused: string[] = [];
  expect(decodeDelta(body, (place) => void refused.push(place))).toEqual(empty);
  expect(refused).toEqual(Object.keys(part));
});

test('a delta whose body inflates beyond the maximum size is unreadable', () => {
  const bomb = Buffer.concat([Buffer.of(1), deflateSync(Buffer.alloc(65 * 1024 * 1024))]);
  expect(() => decodeDelta(bomb)).toThrow(DeltaUnreadable);
});

test('a delta of a later format is unreadable, and the error contains the format', () => {
  expect(() => decodeDelta(Buffer.of(4, 0, 0))).toThrow('its format is 4');
});

import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { isPlainPacket, PacketSchema } from '../../../src/ingest/formats/telemetry/packet.ts';

const schema = Compile(PacketSchema);

const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const name = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', ''));
const count = fc.oneof(
  fc.integer({ min: 0, max: 2_147_483_647 }),
  fc.constantFrom<unknown>(-1, 2_147_483_648, 0.5, -0, 1e300, Number.NaN, '1', null, true, [1], {}),
);
const anything = fc.oneof(fc.jsonValue(), fc.double(), fc.constant(undefined));
const mostly = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: arbitrary as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: anything });

const packet = fc.record(
  {
    k: mostly(text),
    e: mostly(text),
    f: mostly(fc.dictionary(name, mostly(fc.dictionary(name, mostly(fc.array(count, { maxLength: 4 })))))),
    m: mostly(fc.dictionary(name, mostly(fc.double()))),
    i: mostly(text),
    u: mostly(text),
    more: anything,
  },
  { requiredKeys: [] },
);

test('every packet that isPlainPacket accepts is valid according to the schema', () => {
  fc.assert(
    fc.property(fc.oneof(packet, anything), (body) => {
      if (isPlainPacket(body)) expect(schema.Check(body)).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test('isPlainPacket accepts every packet within the limits', () => {
  const short = fc.string({ minLength: 1, maxLength: 256 });
  const counts = fc.array(fc.integer({ min: 0, max: 2_147_483_647 }), { maxLength: 3 });
  const whole = fc.record(
    {
      k: short,
      e: short,
      f: fc.dictionary(name, fc.dictionary(name, counts)),
      m: fc.dictionary(name, fc.double({ noNaN: true, noDefaultInfinity: true })),
      i: text,
      u: text,
    },
    { requiredKeys: ['k', 'e'] },
  );
  fc.assert(
    fc.property(whole, (body) => {
      expect(isPlainPacket(JSON.parse(JSON.stringify(body)))).toBe(true);
    }),
  );
});

test.each([
  ['a list instead of an object', []],
  ['null instead of an object', null],
  ['no key', { e: 'e' }],
  ['an empty key', { k: '', e: 'e' }],
  ['a list of features', { k: 'k', e: 'e', f: [] }],
  ['four counts', { k: 'k', e: 'e', f: { a: { on: [1, 2, 3, 4] } } }],
  ['a fraction', { k: 'k', e: 'e', f: { a: { on: [0.5] } } }],
  ['a count over the limit', { k: 'k', e: 'e', f: { a: { on: [2_147_483_648] } } }],
  ['a negative count', { k: 'k', e: 'e', f: { a: { on: [-1] } } }],
  ['an infinite number', { k: 'k', e: 'e', m: { a: Number.POSITIVE_INFINITY } }],
  ['a text for a number', { k: 'k', e: 'e', m: { a: '1' } }],
  ['an identity that is a number', { k: 'k', e: 'e', u: 7 }],
  ['an identity that is null', { k: 'k', e: 'e', u: null }],
  ['an instance id that is null', { k: 'k', e: 'e', i: null }],
])('isPlainPacket rejects a body with %s', (_, body) => {
  expect(isPlainPacket(body)).toBe(false);
});

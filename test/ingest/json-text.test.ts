import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalInteger, createPeeker, quoteLargeNumbers } from '../../src/ingest/json-text.ts';

describe('canonicalInteger', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['000', '0'],
    ['0.000', '0'],
    ['0e5', '0'],
    ['7', '7'],
    ['-12', '-12'],
    ['007', '7'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['1.0', '1'],
    ['12.50e1', '125'],
    ['1200e-2', '12'],
    ['0.012e3', '12'],
    ['1e+21', `1${'0'.repeat(21)}`],
    ['-98765432109876543210987654321', '-98765432109876543210987654321'],
    ['9'.repeat(256), '9'.repeat(256)],
    ['1e255', `1${'0'.repeat(255)}`],
  ])('canonicalInteger converts %s to %s', (spelled, expected) => {
    expect(canonicalInteger(spelled)).toBe(expected);
  });

  test.each([
    '',
    '-',
    '1.5',
    '1e-1',
    '0.1',
    '+1',
    ' 1',
    '1 ',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '1e256',
    '1e9999',
    '9'.repeat(257),
    '１',
  ])('canonicalInteger rejects %j', (spelled) => {
    expect(canonicalInteger(spelled)).toBeUndefined();
  });
});

describe('quoteLargeNumbers', () => {
  test.each([
    ['[12345678901234567890]', '["12345678901234567890"]'],
    ['[-12345678901234567890 ,1]', '["-12345678901234567890" ,1]'],
    ['[9007199254740991,9007199254740992]', '[9007199254740991,"9007199254740992"]'],
    ['[1e30,1.5,0.1234567890123456789]', '["1e30",1.5,0.1234567890123456789]'],
    ['{"12345678901234567890":"12345678901234567890"}', '{"12345678901234567890":"12345678901234567890"}'],
    ['["a\\"12345678901234567890",12345678901234567890]', '["a\\"12345678901234567890","12345678901234567890"]'],
    ['["\\\\",12345678901234567890]', '["\\\\","12345678901234567890"]'],
    ['12345678901234567890', '"12345678901234567890"'],
  ])('quoteLargeNumbers quotes the large numbers in %s', (text, expected) => {
    expect(quoteLargeNumbers(text)).toBe(expected);
  });

  test('quoteLargeNumbers keeps all digits of large numbers, and the surrounding text', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e15, min: -1e15 }),
    );
    fc.assert(
      fc.property(fc.array(value), fc.bigInt(), fc.array(value), (before, large, after) => {
        const text = `[${JSON.stringify(before)},${large},${JSON.stringify(after)}]`;
        const [first, middle, last] = JSON.parse(quoteLargeNumbers(text));
        expect(String(middle)).toBe(String(large));
        expect([first, last]).toEqual(JSON.parse(JSON.stringify([before, after])));
      }),
    );
  });
});

const peek = createPeeker('k', 'e');

test.each([
  ['{"k":"key","e":"Production"}', { k: 'key', e: 'Production' }],
  [' { "e" : "Größe \\u00e4\\"" ,\n"k"\t:\r\n"key" } ', { k: 'key', e: 'Größe ä"' }],
  ['{"k":"key","e":"Prod', { k: 'key' }],
  ['{"f":{"k":{"on":[NaN]}},"m":{"e":1},"k":"key","e":"Production",}', { k: 'key', e: 'Production' }],
  ['{"f":{"a":"\\"k\\":\\"other\\""},"k":"key"}', { k: 'key' }],
  ['{"k":"one","k":"two"}', { k: 'one' }],
  ['{"k":"\\x","k":"two"}', { k: 'two' }],
  ['{"k":7,"e":null}', {}],
  ['{"kk":"key","E":"Production"}', {}],
  [`{"k":"${'k'.repeat(2000)}","e":"Production"}`, { e: 'Production' }],
  [`{"e":"${'\\u0001'.repeat(256)}"}`, { e: '\u0001'.repeat(256) }],
  ['[["k","key"]]', {}],
  ['', {}],
])('createPeeker finds, in the body %s, the fields %j', (body, found) => {
  expect(peek(Buffer.from(body))).toEqual(found);
});

test('createPeeker reads fields next to invalid UTF-8', () => {
  expect(peek(Buffer.from('{"x":"\xff","k":"key"}', 'latin1'))).toEqual({ k: 'key' });
});

test('createPeeker reads the same fields as a JSON parser from any JSON body', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 });
  fc.assert(
    fc.property(fc.record({ k: text, e: text, m: fc.dictionary(text, fc.double()) }), ({ m, ...rest }) => {
      expect(peek(Buffer.from(JSON.stringify({ ...rest, m })))).toEqual(rest);
    }),
  );
});

test.each(['"k":"\\', '"k" ', '"k":"', '"k":', '"k":"x",'])(
  'createPeeker takes linear time for a body that repeats %s',
  (chunk) => {
    const body = Buffer.from(chunk.repeat(Math.ceil(65_536 / chunk.length)));
    const spaces = Buffer.from(`"k"${' '.repeat(65_536)}`);
    const start = process.cpuUsage();
    for (const each of [body, spaces]) peek(each);
    expect(process.cpuUsage(start).user).toBeLessThan(1_000_000); // µs of CPU time, independent of other processes.
  },
);

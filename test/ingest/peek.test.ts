import fc from 'fast-check';
import { expect, test } from 'vitest';
import { peekerOf } from '../../src/ingest/json-text.ts';

const peek = peekerOf('k', 'e');

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
])('extracts from %s the fields %j', (body, found) => {
  expect(peek(Buffer.from(body))).toEqual(found);
});

test('reads fields beside invalid UTF-8', () => {
  expect(peek(Buffer.from('{"x":"\xff","k":"key"}', 'latin1'))).toEqual({ k: 'key' });
});

test('reads the same as a parser from any JSON body', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 });
  fc.assert(
    fc.property(fc.record({ k: text, e: text, m: fc.dictionary(text, fc.double()) }), ({ m, ...rest }) => {
      expect(peek(Buffer.from(JSON.stringify({ ...rest, m })))).toEqual(rest);
    }),
  );
});

test.each(['"k":"\\', '"k" ', '"k":"', '"k":', '"k":"x",'])('runs in linear time on repeated %s', (piece) => {
  const body = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)));
  const spaces = Buffer.from(`"k"${' '.repeat(65_536)}`);
  const start = process.cpuUsage();
  for (const each of [body, spaces]) peek(each);
  expect(process.cpuUsage(start).user).toBeLessThan(1_000_000); // µs of CPU time, independent of other processes.
});

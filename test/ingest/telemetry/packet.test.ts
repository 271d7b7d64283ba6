import { expect, test } from 'vitest';
import { checkPacket, omittedIn } from '../../../src/ingest/formats/telemetry/packet.ts';

const read = (fields: string) => {
  const json = `{"k":"k","e":"e",${fields}}`;
  return checkPacket(JSON.parse(json), json);
};

test.each([
  ['7', '7'],
  ['-0.5', '-0.5'],
  ['true', 'true'],
  ['12345678901234567890', '12345678901234567890'],
  ['9007199254740993', '9007199254740993'],
])('checkPacket converts the id %s to a text without changing it', (sent, text) => {
  expect(read(`"u":${sent}`).u).toBe(text);
  expect(read(`"i":${sent}`).i).toBe(text);
});

test('checkPacket removes empty fields of a packet', () => {
  expect(read('"f":null,"m":null,"i":[],"u":[]')).toEqual({ k: 'k', e: 'e' });
});

test('omittedIn returns the path of the first value that was left out of a packet', () => {
  expect(omittedIn(read('"f":{"a":{"on":[1,null]}},"m":{"a":null}'))).toBe('f.a.on[1]');
  expect(omittedIn(read('"f":{"a":{"on":[]}},"m":null,"u":7'))).toBeUndefined();
  expect(omittedIn(read('"m":{"a":1}'))).toBeUndefined();
});

import { expect, test } from 'vitest';
import { checkPacket, isRepaired } from '../../../src/ingest/telemetry/packet.ts';

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
])('reads the identity %s as its text', (sent, text) => {
  expect(read(`"u":${sent}`).u).toBe(text);
});

test('removes empty fields', () => {
  expect(read('"f":null,"m":null,"i":[],"u":[]')).toEqual({ k: 'k', e: 'e' });
});

test('marks only a packet from which a value was left out', () => {
  expect(isRepaired(read('"m":{"a":null}'))).toBe(true);
  expect(isRepaired(read('"f":{"a":{"on":[]}},"m":null,"u":7'))).toBe(false);
  expect(isRepaired(read('"m":{"a":1}'))).toBe(false);
});

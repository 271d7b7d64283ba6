import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupsOf, plainAddress } from '../src/ip-address.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['::1', '::1'],
  ['::', '::'],
  ['::192.0.2.1', '::c000:201'],
  ['fe80::1%eth0', undefined],
  ['192.0.2.01', undefined],
  ['192.0.2', undefined],
  ['[::1]', undefined],
  [' ::1', undefined],
  ['localhost', undefined],
  ['', undefined],
])('%j is written as %j', (text, plain) => {
  expect(plainAddress(text)).toBe(plain);
});

test('what is written in the one way stays as it is, whatever its groups', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const plain = plainAddress(address)!;
      expect(plainAddress(plain)).toBe(plain);
      if (plain.includes(':')) expect(groupsOf(plain)).toHaveLength(8);
    }),
  );
});

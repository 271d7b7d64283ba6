import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseGroups, plainAddress } from '../../src/runtime/addresses.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['::1', '::1'],
  ['::', '::'],
  ['::192.0.2.1', '::c000:201'],
  ['0::0:0:0:0.0.0.0', '::'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
  ['10:0:5:0:0:1:1:1', '10:0:5::1:1:1'],
  ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ['1::', '1::'],
  ['64:ff9b::198.51.100.255', '64:ff9b::c633:64ff'],
  ['fe80::1%eth0', undefined],
  ['192.0.2.01', undefined],
  ['192.0.2', undefined],
  ['[::1]', undefined],
  [' ::1', undefined],
  ['localhost', undefined],
  ['', undefined],
])('the canonical form of the address %j is %j', (text, plain) => {
  expect(plainAddress(text)).toBe(plain);
});

test('an address and its canonical form denote the same address', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const plain = plainAddress(address)!;
      expect(plainAddress(plain)).toBe(plain);
      if (plain.includes(':')) expect(parseGroups(plain)).toEqual(parseGroups(address));
    }),
  );
});

test('the eight groups of an IPv6 address are formatted as in a URL', () => {
  const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const text = groups.map((each) => each.toString(16)).join(':');
      const plain = plainAddress(text)!;
      if (plain.includes(':')) expect(plain).toBe(new URL(`http://[${text}]`).hostname.slice(1, -1));
      expect(parseGroups(text)).toEqual(groups);
    }),
  );
});

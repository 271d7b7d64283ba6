import { describe, expect, test } from 'vitest';
import { IpNetworks, readNetworks } from '../../src/runtime/addresses.ts';

describe('readNetworks', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['192.0.2.4/31', '192.0.2.5', true],
    ['192.0.2.4/31', '192.0.2.6', false],
    ['192.0.2.4/32', '192.0.2.4', true],
    ['0.0.0.0/1', '127.0.0.1', true],
    ['2001:db8::/32', '2001:db8:1::1', true],
    ['2001:DB8:0::1', '2001:db8::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['loopback', '127.9.9.9', true],
    ['loopback', '::1', true],
    ['loopback', '10.0.0.1', false],
    ['private', '192.168.7.1', true],
    ['private', '172.31.255.255', true],
    ['private', '172.32.0.0', false],
    ['private', 'fd00::1', true],
    ['private', '127.0.0.1', false],
    ['private', '8.8.8.8', false],
    [' loopback , 192.0.2.1 ', '192.0.2.1', true],
    ['0.0.0.0/1', '', false],
    ['0.0.0.0/1', 'unknown', false],
  ])('the networks %s include %j: %s', (list, address, has) => {
    expect(readNetworks(list).has(address)).toBe(has);
  });

  test.each([
    ['10.0.0.0/8,10.0.0.256', '10.0.0.256 is not an address'],
    ['10.0.0.1,,::1', 'an empty entry is not an address'],
    [' ', 'an empty entry is not an address'],
    ['proxy.example.com', 'proxy.example.com is not an address'],
    ['Loopback', 'Loopback is not an address'],
    ['toString', 'toString is not an address'],
    ['loopback/8', 'loopback/8 is not an address'],
    ['010.0.0.1', '010.0.0.1 is not an address'],
    ['[::1]', '[::1] is not an address'],
    ['fe80::1%eth0', 'fe80::1%eth0 is not an address'],
    ['10.0.0.0/8/8', '10.0.0.0/8/8 is not an address'],
    ['10.0.0.0/33', '10.0.0.0/33 must end in a length from /1 to /32'],
    ['10.0.0.0/', '10.0.0.0/ must end in a length'],
    ['10.0.0.0/-1', '10.0.0.0/-1 must end in a length'],
    ['10.0.0.0/8.0', '10.0.0.0/8.0 must end in a length'],
    ['fd00::/129', 'fd00::/129 must end in a length from /1 to /128'],
    ['::ffff:10.0.0.0/104', '::ffff:10.0.0.0/104 must be written as an IPv4 network'],
    ['127.0.0.1,0.0.0.0/0', '0.0.0.0/0 matches every address'],
    ['::/0', '::/0 matches every address'],
  ])('readNetworks refuses the list of networks %j', (list, why) => {
    expect(() => readNetworks(list)).toThrow(why);
  });
});

test('a replaced set of networks takes effect immediately', () => {
  const networks = new IpNetworks(['10.0.0.0/8']);
  networks.become(new IpNetworks(['192.0.2.1']));
  expect([networks.has('10.0.0.1'), networks.has('192.0.2.1')]).toEqual([false, true]);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressesFor, checkUrl, isPublic } from '../../../src/http/outbound/addresses.ts';

const own4 =
  `0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254
172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.9
224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255`.split(/\s+/);

const public4 =
  `1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.15 168.63.129.17 169.253.255.255
172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255`.split(/\s+/);

const own6 = `:: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1
fe80::1 fec0::1 fc00::1 fd00:ec2::254 fdff::1 ff02::1 2001::1 2001:10::1 2001:db8::1 2002:7f00:1:: 3fff::1 4000::1`.split(
  /\s+/,
);

const public6 = '2001:200::1 2606:4700:4700::1111 2a00:1450::1 2400::1 3ffe::1'.split(' ');

describe('isPublic', () => {
  test.each([...own4, ...own6])('isPublic returns false for %s', (address) => {
    expect(isPublic({ address, family: address.includes(':') ? 6 : 4 })).toBe(false);
  });

  test.each([...public4, ...public6])('isPublic returns true for %s', (address) => {
    expect(isPublic({ address, family: address.includes(':') ? 6 : 4 })).toBe(true);
  });

  test('isPublic returns false for every IPv4 address that is embedded in IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '::', '64:ff9b::', '::ffff:0:'), (ip, prefix) => {
        expect(isPublic({ address: prefix + ip, family: 6 })).toBe(false);
      }),
    );
  });

  test('isPublic returns false for malformed addresses', () => {
    for (const address of ['', 'localhost', '1.2.3', '010.0.0.1', '1.1.1.1 ', '2606::1%eth0'])
      for (const family of [4, 6] as const) expect(isPublic({ address, family })).toBe(false);
  });
});

describe('checkUrl', () => {
  test.each([
    'https://hooks.example.com/flags?team=1',
    'https://hooks.example.com:8443/',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
    'https://localhost.example.com/',
  ])('checkUrl accepts %s', (url) => {
    expect(() => checkUrl(url, false)).not.toThrow();
  });

  test.each([
    '',
    'hooks.example.com',
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'https://user@hooks.example.com/',
    'https://:secret@hooks.example.com/',
    'https://hooks.example.com/#top',
    `https://hooks.example.com/${'a'.repeat(2048)}`,
    'https://hooks.example.com:0/',
    'https://hooks.example.com:00?x=1',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://my.localhost/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[::ffff:7f00:1]/',
    'https://[fe80::1]/',
    'https://①②⑦.0.0.1/',
    ' https://hooks.example.com/',
    'https://hooks.example.com\n/flags',
    'https://hooks.example.com/\u001b[2J',
    'https://hooks.example.com\\@127.0.0.1/',
  ])('checkUrl rejects %j', (url) => {
    expect(() => checkUrl(url, false)).toThrow('`url` must');
  });

  test('checkUrl accepts a URL in a private network if private networks are allowed', () => {
    for (const url of ['http://127.0.0.1:9000/', 'https://localhost/', 'https://[fd00::1]/'])
      expect(() => checkUrl(url, true)).not.toThrow();
    for (const url of ['ftp://127.0.0.1/', 'http://user@127.0.0.1/'])
      expect(() => checkUrl(url, true)).toThrow('https: or http:');
  });
});

describe('addressesFor', () => {
  const find = (addresses: readonly string[], allowPrivate = false) =>
    addressesFor(new URL('https://hooks.example.com/'), {
      allowPrivate,
      allowedBy: '--webhook-allow-private',
      resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }) as const),
    });

  test('addressesFor returns all addresses of a host if all are public', async () => {
    expect(await find(['1.1.1.1', '2606:4700:4700::1111'])).toHaveLength(2);
  });

  test.each([[['127.0.0.1']], [['1.1.1.1', '10.0.0.1']], [['1.1.1.1', '::ffff:10.0.0.1']]])(
    'addressesFor rejects a host with the addresses %j',
    async (addresses) => {
      await expect(find(addresses)).rejects.toThrow('--webhook-allow-private');
      expect(await find(addresses, true)).toHaveLength(addresses.length);
    },
  );

  test('addressesFor rejects a host name without addresses', async () => {
    await expect(find([])).rejects.toThrow('does not resolve');
  });
});

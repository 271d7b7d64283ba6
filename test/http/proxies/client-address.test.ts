import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddress, type Proxies } from '../../../src/http/client-address.ts';
import { IpNetworks, plainAddress, readNetworks } from '../../../src/runtime/addresses.ts';
import { fakeRequest } from '../support/fake-request.ts';

/** Opens an address finder. Returns the function that finds addresses, and the logged warnings. */
function open(list: string | undefined, header: Proxies['header'] = 'x-forwarded-for') {
  const warnings: object[] = [];
  const trusted = list === undefined ? new IpNetworks([]) : readNetworks(list);
  const log = { warn: (msg: string, fields = {}) => void warnings.push({ msg, ...fields }) };
  const findAddress = clientAddress({ trusted, header, log });
  const of = (connected: string, headers: Record<string, string> = {}) =>
    findAddress(connected, fakeRequest({ headers }));
  return { of, warnings };
}

describe('clientAddress', () => {
  test.each([
    // Rows of connection address, X-Forwarded-For header and expected client address.
    ['192.0.2.1', undefined, '192.0.2.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.7, , ', '198.51.100.7'],
    ['10.0.0.1', '1.1.1.1, unknown', '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '1.1.1.1, rubbish, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '1.1.1.1, _hidden', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['10.0.0.1', '198.51.100.7:_port', '198.51.100.7'],
    ['10.0.0.1', '198.51.100.7:4711:1', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.07', '10.0.0.1'],
    ['10.0.0.1', '[198.51.100.7]', '10.0.0.1'],
    ['10.0.0.1', '2001:DB8:0::7', '2001:db8::7'],
    ['10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['10.0.0.1', '[2001:db8::7', '10.0.0.1'],
    ['10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
    ['10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['0000:0000:0000:0000:0000:ffff:0a00:0001', '198.51.100.7', '198.51.100.7'],
    ['fd00::0001', '198.51.100.7', '198.51.100.7'],
    ['fe80::1%eth0', '198.51.100.7', 'fe80::1'],
    ['::ffff:192.0.2.1', undefined, '192.0.2.1'],
  ])('a connection from %s with X-Forwarded-For %j has the client address %s', (connected, said, address) => {
    const headers = said === undefined ? {} : { 'x-forwarded-for': said };
    expect(open('private').of(connected, headers)).toBe(address);
  });

  test.each([
    ['for=198.51.100.7', '198.51.100.7'],
    ['for=1.1.1.1, for="[2001:db8::7]:4711";proto=https', '2001:db8::7'],
    ['for=1.1.1.1, for="2001:db8::7"', '2001:db8::7'],
    ['for=1.1.1.1, for=198.51.100.7, for=10.0.0.2;by=10.0.0.1', '198.51.100.7'],
    ['for=1.1.1.1, for=unknown', '10.0.0.1'],
    ['for=1.1.1.1, for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['for=1.1.1.1, proto=https', '10.0.0.1'],
    ['for=1.1.1.1, for=1.1.1.1;for=2.2.2.2', '10.0.0.1'],
    ['for="1.1.1.1, for=198.51.100.7', '198.51.100.7'],
  ])('clientAddress reads the Forwarded header %s', (said, address) => {
    expect(open('private', 'forwarded').of('10.0.0.1', { forwarded: said })).toBe(address);
  });

  test('clientAddress reads only the configured header, because proxies forward the other header unchanged', () => {
    const headers = { 'x-forwarded-for': '198.51.100.7', forwarded: 'for=198.51.100.8' };
    expect(open('private').of('10.0.0.1', headers)).toBe('198.51.100.7');
    expect(open('private', 'forwarded').of('10.0.0.1', headers)).toBe('198.51.100.8');
    expect(open('private').of('10.0.0.1', { forwarded: 'for=1.1.1.1' })).toBe('10.0.0.1');
  });

  const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'",;=\\ for.1[]:%') }));

  test.each(['x-forwarded-for', 'forwarded'] as const)(
    'clientAddress returns a valid address for any %s header, and ignores the header of an untrusted proxy',
    (header) => {
      const { of } = open('private', header);
      fc.assert(
        fc.property(anything, (said) => {
          const found = of('10.0.0.1', { [header]: said });
          expect(plainAddress(found)).toBe(found);
          expect(of('192.0.2.1', { [header]: said })).toBe('192.0.2.1');
        }),
      );
    },
  );

  test('clientAddress never returns an address that the client has forged', () => {
    const plain = open('private');
    const standard = open('private', 'forwarded');
    const outside = fc.ipV4().filter((address) => !readNetworks('private').has(address));
    fc.assert(
      fc.property(anything, outside, (before, client) => {
        expect(plain.of('10.0.0.1', { 'x-forwarded-for': `${before}, ${client}, 10.0.0.2` })).toBe(client);
        const said = `${before}, for=${client};host="a, for=1.1.1.1", for=10.0.0.2`;
        expect(standard.of('10.0.0.1', { forwarded: said })).toBe(client);
      }),
    );
  });
});

describe('forwarding header of an untrusted proxy', () => {
  const said = { 'x-forwarded-for': '198.51.100.7' };

  test('a forwarding header of an untrusted proxy with a private address is logged once', () => {
    const { of, warnings } = open(undefined);
    of('10.0.0.1');
    of('192.0.2.1', said);
    expect(warnings).toEqual([]);
    for (const peer of ['127.0.0.1', '10.0.0.1', '::1']) expect(of(peer, said)).toBe(peer);
    expect(warnings).toEqual([
      {
        msg: 'ignoring the header of an untrusted proxy',
        header: 'x-forwarded-for',
        from: '127.0.0.1',
        hint: expect.stringContaining('--trusted-proxies'),
      },
    ]);
  });

  test('a forwarding header is not logged for a trusted proxy', () => {
    const { of, warnings } = open('loopback');
    of('127.0.0.1', said);
    expect(warnings).toEqual([]);
  });
});

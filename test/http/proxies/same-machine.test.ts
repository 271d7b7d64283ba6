import { expect, test } from 'vitest';
import { isFromSameMachine } from '../../../src/http/client-address.ts';
import { IpNetworks } from '../../../src/runtime/addresses.ts';

const nobody = new IpNetworks([]);

function isLocal(remoteAddress: string, headers: Record<string, string> = {}, trusted = nobody): boolean {
  return isFromSameMachine({ remoteAddress, header: (name) => headers[name] }, trusted);
}

test.each(['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1'])('%s is an address of this machine', (address) => {
  expect(isLocal(address)).toBe(true);
});

test.each(['192.0.2.1', '10.0.0.1', '2001:db8::1', '::ffff:192.0.2.1', ''])('%j is not a local address', (address) => {
  expect(isLocal(address)).toBe(false);
});

test.each(['x-forwarded-for', 'forwarded', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'])(
  'a request with the header %s counts as forwarded by a proxy',
  (name) => {
    expect(isLocal('127.0.0.1', { [name]: '127.0.0.1' })).toBe(false);
  },
);

test('a request from a trusted proxy counts as forwarded, even without a forwarding header', () => {
  expect(isLocal('127.0.0.1', {}, new IpNetworks(['loopback']))).toBe(false);
});

import { expect, it } from 'vitest';
import { authority, parseAddress } from '../../src/runtime/addresses.ts';

it.each([
  ['127.0.0.1:8080', '127.0.0.1', 8080],
  ['localhost:0', 'localhost', 0],
  [':8080', '0.0.0.0', 8080],
  ['[::1]:8080', '::1', 8080],
])('parseAddress parses the address %s', (address, host, port) => {
  expect(parseAddress(address)).toEqual({ host, port });
});

it.each(['127.0.0.1:8080', 'localhost:0', '[::1]:8080'])('a parsed address is formatted as %s again', (address) => {
  const { host, port } = parseAddress(address);
  expect(authority(host, port)).toBe(address);
});

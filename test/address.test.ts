import { expect, it } from 'vitest';
import { parseAddress } from '../src/address.ts';

it.each([
  ['127.0.0.1:8080', '127.0.0.1', 8080],
  ['localhost:0', 'localhost', 0],
  [':8080', '0.0.0.0', 8080],
  ['[::1]:8080', '::1', 8080],
])('parses the address %s', (address, host, port) => {
  expect(parseAddress(address)).toEqual({ host, port });
});

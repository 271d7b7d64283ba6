import { expect, it } from 'vitest';
import { isLoopback } from '../../src/bench/target.ts';

it.each(['localhost', '127.0.0.1', '127.9.9.9', '[::1]', '::1'])('the address %s belongs to this machine', (host) => {
  expect(isLoopback(host)).toBe(true);
});

it.each([
  ...['example.com', 'localhost.example.com', '127.0.0.1.example.com', '128.0.0.1', '10.0.0.1', '0.0.0.0'],
  ...['[::]', '[fe80::1]', '[2001:db8::1]', ''],
])('the address %s is not known to belong to this machine', (host) => {
  expect(isLoopback(host)).toBe(false);
});

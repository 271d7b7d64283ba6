import { expect, test } from 'vitest';
import { UnknownSenders } from '../../../src/ingest/admission/rate-limits.ts';

/** As a body is paid for: see `Payer`. */
function take(senders: UnknownSenders, address: string, now: number, tokens: number): number {
  const wait = senders.wait(address, now, tokens);
  if (wait === 0) senders.owe(address, now, tokens);
  return wait;
}

test('a network in debt leaves room for others', () => {
  const senders = new UnknownSenders(0);
  expect(take(senders, '192.0.2.1', 0, 3)).toBe(0);
  senders.owe('192.0.2.1', 0, 500);
  expect(senders.wait('192.0.2.1', 0, 1)).toBeGreaterThan(0);
  expect(take(senders, '192.0.2.1', 0, 1)).toBeGreaterThan(0);
  expect(take(senders, '192.0.2.2', 0, 1)).toBe(0);
});

test('the addresses of one IPv6 network share its limit', () => {
  const senders = new UnknownSenders(0);
  senders.owe('2001:db8::1', 0, 500);
  expect(senders.wait('2001:db8::2', 0, 1)).toBeGreaterThan(0);
  expect(senders.wait('2001:db8:0:1::2', 0, 1)).toBe(0);
});

test('all networks together have a limit too', () => {
  const senders = new UnknownSenders(0);
  const passed = Array.from({ length: 30 }, (_, n) => take(senders, `192.0.2.${n}`, 0, 200) === 0);
  expect(passed.filter(Boolean)).toHaveLength(20);
});

test('a report of 4 MiB passes occasionally', () => {
  const senders = new UnknownSenders(0);
  expect(take(senders, '192.0.2.1', 0, 1024)).toBe(0);
  expect(take(senders, '192.0.2.1', 1_000, 1024)).toBeGreaterThan(0);
  expect(take(senders, '192.0.2.1', 80_000, 1024)).toBe(0);
});

import { expect, test } from 'vitest';
import { ConnectionLimiter, type Peer, usualLimit } from '../../../src/http/connection-limiter.ts';
import { IpNetworks } from '../../../src/runtime/addresses.ts';

/** Creates a limiter of a process with these connections and ten other open files. */
function createLimiter(peers: Peer[], perAddress?: number) {
  const state = { now: 0, lists: 0, lookMs: 0, peers, shut: [] as number[], warnings: 0 };
  const limiter = new ConnectionLimiter({
    descriptors: {
      limit: 100,
      next: () => 10 + state.peers.length,
      peersAt() {
        state.lists += 1;
        state.now += state.lookMs;
        return { others: 10, peers: state.peers };
      },
      shutDown: ({ descriptor }) => void state.shut.push(descriptor),
    },
    ports: new Set([8080]),
    trusted: new IpNetworks(['192.0.2.0/24']),
    perAddress,
    clock: { monotonic: () => state.now },
    log: {
      warn() {
        state.warnings += 1;
      },
    },
  });
  return { limiter, state };
}

const peers = (count: number, address: (at: number) => string): Peer[] =>
  Array.from({ length: count }, (_, at) => ({
    descriptor: at,
    address: address(at),
    port: 1_024 + at,
    answered: true,
    quietMs: at,
  }));

test('the limiter does not list the connections while few files are open', () => {
  const { limiter, state } = createLimiter(peers(10, () => '198.51.100.1'));
  limiter.look();
  expect(state).toMatchObject({ lists: 0, shut: [] });
});

test.each([
  ['an IPv4 address', (_: number) => '198.51.100.1', 20],
  ['addresses of one IPv6 network', (at: number) => `2001:db8:0:1::${at.toString(16)}`, 20],
  ['addresses of several IPv6 networks', (at: number) => `2001:db8:0:${at.toString(16)}::1`, 0],
  ['a trusted proxy', (_: number) => '192.0.2.1', 0],
])('the limiter closes only the surplus connections of %s', (_what, address, closed) => {
  const { limiter, state } = createLimiter(peers(45, address));
  limiter.look();
  expect(limiter.closed).toBe(closed);
  expect(state.shut.toSorted((a, b) => a - b)).toEqual(Array.from({ length: closed }, (_, at) => 25 + at));
});

test('a limit of 0 disables the limit per address, but a quarter of the allowed open files stays free', () => {
  const { limiter } = createLimiter(
    peers(80, () => '198.51.100.1'),
    0,
  );
  limiter.look();
  expect(limiter.closed).toBe(80 - (75 - 10));
});

test('the limiter keeps a quarter of the allowed open files free even with many addresses', () => {
  const { limiter } = createLimiter(peers(85, (at) => `198.51.100.${at}`));
  limiter.look();
  expect(limiter.closed).toBe(85 - (75 - 10));
});

test('the limiter pauses for several times the duration of its last check', () => {
  const { limiter, state } = createLimiter(peers(45, () => '198.51.100.1'));
  state.lookMs = 40;
  limiter.look();
  state.now = 100;
  limiter.look();
  expect(state.lists).toBe(1);
  state.now = 201;
  limiter.look();
  expect(state.lists).toBe(2);
});

test('the limiter logs at most one warning a minute', () => {
  const { limiter, state } = createLimiter(peers(45, () => '198.51.100.1'));
  for (; state.now < 60_000; state.now += 10_000) limiter.look();
  expect(state.warnings).toBe(1);
  limiter.look();
  expect(state.warnings).toBe(2);
});

test.each([
  [1_024, 256],
  [65_536, 16_384],
  [1_048_576, 16_384],
])('usualLimit for %i open files returns %i connections per address', (files, limit) => {
  expect(usualLimit(files)).toBe(limit);
});

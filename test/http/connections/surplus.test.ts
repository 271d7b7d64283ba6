import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSurplus, type OpenConnection } from '../../../src/http/connection-limiter.ts';

const unlimited = Number.POSITIVE_INFINITY;

/** Creates connections of an address, with the most recent response first. */
function createConnections(from: string | undefined, count: number, first: number): OpenConnection[] {
  return Array.from({ length: count }, (_, at) => ({ descriptor: first + at, from, answered: true, quietMs: at * 10 }));
}

function counts(connections: readonly OpenConnection[]): Map<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const { from } of connections) counts.set(from, (counts.get(from) ?? 0) + 1);
  return counts;
}

const numbers = (connections: readonly OpenConnection[]) =>
  connections.map(({ descriptor }) => descriptor).toSorted((a, b) => a - b);

describe('findSurplus', () => {
  test('findSurplus returns the longest-idle connections of an address that exceeds its limit', () => {
    const open = [...createConnections('192.0.2.1', 4, 10), ...createConnections('192.0.2.2', 2, 20)];
    expect(numbers(findSurplus(open, { perAddress: 2, total: unlimited }))).toEqual([12, 13]);
  });

  test('findSurplus first returns connections without a response', () => {
    const half = { descriptor: 30, from: '192.0.2.1', answered: false, quietMs: 0 };
    const open = [half, ...createConnections('192.0.2.1', 4, 10)];
    expect(numbers(findSurplus(open, { perAddress: 4, total: unlimited }))).toEqual([30]);
  });

  test('findSurplus returns connections of the address with the most connections if the total is over the limit', () => {
    const open = [...createConnections('192.0.2.1', 5, 10), ...createConnections('192.0.2.2', 2, 20)];
    expect(numbers(findSurplus(open, { perAddress: unlimited, total: 4 }))).toEqual([12, 13, 14]);
  });

  test('findSurplus returns no connection of a trusted proxy while a client has several connections', () => {
    const open = [...createConnections(undefined, 5, 10), ...createConnections('192.0.2.2', 5, 20)];
    expect(numbers(findSurplus(open, { perAddress: 3, total: 6 }))).toEqual([21, 22, 23, 24]);
  });

  const connection = fc.record({
    from: fc.option(fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'), { nil: undefined }),
    answered: fc.boolean(),
    quietMs: fc.nat(50),
  });
  const connections = fc
    .array(connection, { maxLength: 40 })
    .map((all) => all.map((each, descriptor) => ({ ...each, descriptor })));

  test('findSurplus leaves each address and the total within the limits, and returns no more than necessary', () => {
    fc.assert(
      fc.property(connections, fc.integer({ min: 1, max: 10 }), fc.nat(40), (open, perAddress, total) => {
        const surplus = new Set(findSurplus(open, { perAddress, total }));
        const kept = open.filter((each) => !surplus.has(each));
        for (const [from, count] of counts(kept)) if (from !== undefined) expect(count).toBeLessThanOrEqual(perAddress);
        const within = [...counts(open)].map(([from, count]) =>
          from === undefined ? count : Math.min(count, perAddress),
        );
        const sum = within.reduce((all, each) => all + each, 0);
        expect(kept.length).toBe(Math.min(total, sum));
      }),
    );
  });

  test('findSurplus chooses the connections of each address by the age of their responses, oldest first', () => {
    fc.assert(
      fc.property(connections, fc.integer({ min: 1, max: 10 }), fc.nat(40), (open, perAddress, total) => {
        const surplus = new Set(findSurplus(open, { perAddress, total }));
        for (const gone of surplus)
          for (const other of open)
            if (other.from === gone.from && other.answered === gone.answered && other.quietMs > gone.quietMs)
              expect(surplus).toContain(other);
      }),
    );
  });
});

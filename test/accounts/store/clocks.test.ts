import { expect, vi } from 'vitest';
import { keyAt } from '../../../src/accounts/store/sweep.ts';
import { sweepRound } from '../../../src/auth/sweep.ts';
import { SharedClock } from '../../../src/replication/postgres/shared-clock.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { needing } from '../../support/needing.ts';
import { newDatabase, openNode, sharedServer, type TestNode } from './postgres-fixture.ts';

const { describe, test } = needing('postgresql');

/** A node whose machine has its own clock. */
interface ClockedNode extends TestNode {
  readonly clock: SharedClock;
  /** Time by which the machine's clock is ahead. */
  readonly machine: { aheadMs: number };
}

function openClocked(url: string): ClockedNode {
  const machine = { aheadMs: 0 };
  const clock = new SharedClock({ ...systemClock, now: () => systemClock.now() + machine.aheadMs });
  return { ...openNode(url, { clock }), clock, machine };
}

async function nodes(): Promise<readonly [ClockedNode, ClockedNode]> {
  const url = await newDatabase(await sharedServer());
  return [openClocked(url), openClocked(url)];
}

const hour = 3_600_000;
const often = { interval: 100 };
const unavailable = { code: 'postgres_unavailable' };

describe.each([3_700_000, -2 * hour])('a node whose clock jumps by %i ms', (aheadMs) => {
  test('a node whose clock jumps refuses to manage accounts until the clock is correct, and reports why', async () => {
    const [node, other] = await nodes();
    await node.accountStore.current();
    node.machine.aheadMs = aheadMs;
    await expect(node.accountStore.current()).rejects.toMatchObject(unavailable);
    await expect(node.accountStore.change((tx) => tx.put('numbers', 'n', 1))).rejects.toMatchObject(unavailable);
    expect(node.accountStore.status().trouble).toMatch(/The clock of this machine is .* PostgreSQL's/);
    await other.accountStore.current();
    expect(other.accountStore.has('numbers', 'n')).toBe(false);
    node.machine.aheadMs = 0;
    await node.accountStore.start();
    await vi.waitFor(() => node.accountStore.current(), often);
    expect(node.accountStore.status().trouble).toBeUndefined();
  });

  test('a node whose clock jumps uses the time of PostgreSQL', async () => {
    const [node] = await nodes();
    await node.accountStore.current();
    node.machine.aheadMs = aheadMs;
    expect(Math.abs(node.clock.now() - systemClock.now())).toBeLessThan(hour / 2);
  });

  test('a node whose clock jumps still applies the changes of other nodes', async () => {
    const [node, other] = await nodes();
    await node.accountStore.current();
    node.machine.aheadMs = aheadMs;
    await other.accountStore.change((tx) => tx.put('numbers', 'n', 1));
    await node.accountStore.current().catch(() => {});
    expect(node.accountStore.get('numbers', 'n')).toBe(1);
  });

  test('a node whose clock jumps keeps the records of invalidated tokens until the tokens expire', async () => {
    const [node, other] = await nodes();
    const key = keyAt(systemClock.now() / 1000 + 3600);
    await other.accountStore.change((tx) => tx.put('invalidated', key, true));
    await node.accountStore.current();
    node.machine.aheadMs = aheadMs;
    const sweep = { accounts: node.store, accountStore: node.accountStore, clock: node.clock, auditMs: 0 };
    await sweepRound({ ...sweep, pause: async () => true, failed: () => {} }).catch(() => {});
    node.machine.aheadMs = 0;
    await other.accountStore.current();
    expect(other.accountStore.has('invalidated', key)).toBe(true);
  });
});

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Histogram } from '../src/bench/load/histogram.ts';
import { joinPostgres } from '../src/replication/accounts/join-postgres.ts';
import { PostgresAccountStore } from '../src/replication/accounts/postgres.ts';
import { Connection } from '../src/replication/postgres/connection.ts';
import { parsePostgresUrl } from '../src/replication/postgres/postgres-url.ts';
import { SharedClock } from '../src/replication/postgres/shared-clock.ts';
import { systemClock } from '../src/runtime/clock.ts';
import type { Log } from '../src/runtime/log.ts';

/** Rate of operations, and the duration of one operation (ms). */
export interface RateMeasurement {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

const silent = () => {};
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };

interface BenchNode {
  readonly accountStore: PostgresAccountStore;
  close(): Promise<void>;
}

/** Two nodes in this process. Each measurement runs for the configured time. */
export interface ControlBench {
  /** Measures confirmed reads at one node while nothing changes. */
  reads(): Promise<RateMeasurement>;
  /** Measures the same reads while the other node makes about 200 changes per second. */
  readsWithChanges(): Promise<RateMeasurement>;
  /** Measures changes that both nodes make at the same time. */
  changes(): Promise<RateMeasurement>;
  /** Measures the same changes when a confirmed read precedes each change, as in an HTTP request. */
  changesAfterReads(): Promise<RateMeasurement>;
  close(): Promise<void>;
}

/**
 * Opens the accounts of a PostgreSQL database.
 * @param url URL of a database prepared with `flagmeter postgres init`
 * @param callers number of concurrent callers at each node
 */
export async function openControl(
  url: string,
  { seconds = 5, readers = 64, callers = 16 } = {},
): Promise<ControlBench> {
  const nodes = [await openNode(url), await openNode(url)] as const;
  const [one, other] = nodes;
  const reads = () => measure(readers, seconds, () => one.accountStore.current());
  const changes = (act: (accountStore: PostgresAccountStore, key: string) => Promise<void>) =>
    measure(2 * callers, seconds, (caller) => act(nodes[caller % 2]!.accountStore, `caller ${caller}`));
  return {
    reads,
    async readsWithChanges() {
      const timer = setInterval(() => void change(other.accountStore, 'timer').catch(silent), 5);
      return await reads().finally(() => clearInterval(timer));
    },
    changes: () => changes(change),
    changesAfterReads: () =>
      changes(async (accountStore, key) => {
        await accountStore.current();
        await change(accountStore, key);
      }),
    async close() {
      for (const node of nodes) await node.close();
    },
  };
}

/** Makes a change similar to a token refresh: reads and writes one record, and adds another one. */
function change(accountStore: PostgresAccountStore, key: string): Promise<void> {
  return accountStore.change((tx) => {
    const next = (tx.get('loginThrottles', key)?.failures ?? 0) + 1;
    tx.put('loginThrottles', key, { failures: next, lastAt: next });
    tx.put('invalidated', `${key} ${next % 100}`, true);
  });
}

async function measure(
  callers: number,
  seconds: number,
  act: (caller: number) => Promise<unknown>,
): Promise<RateMeasurement> {
  const times = new Histogram();
  let done = 0;
  const begun = performance.now();
  const until = begun + seconds * 1000;
  const calling = Array.from({ length: callers }, async (_, caller) => {
    for (let at = performance.now(); at < until; ) {
      await act(caller);
      const now = performance.now();
      times.record(now - at);
      at = now;
      done += 1;
    }
  });
  await Promise.all(calling);
  const perSecond = Math.round((done * 1000) / (performance.now() - begun));
  return { perSecond, p50: times.quantile(0.5), p99: times.quantile(0.99) };
}

async function openNode(url: string): Promise<BenchNode> {
  const data = mkdtempSync(join(tmpdir(), 'flagmeter-bench-'));
  const connections = ['reads', 'changes', 'sign-ins'].map(
    (name) => new Connection(parsePostgresUrl(url), { name, log, clock: systemClock, deadlineMs: 4000 }),
  ) as [Connection, Connection, Connection];
  const [reads, changes, signIns] = connections;
  const pause = () => Promise.resolve(false);
  const accounts = await joinPostgres(data, { connection: reads, key: undefined, log, pause });
  if (accounts === undefined) throw new Error('PostgreSQL does not respond');
  const health = { ready: true, failed: (error: unknown) => console.error(error) };
  const clock = new SharedClock(systemClock);
  const services = { health, reads, changes, signIns, key: undefined, clock, log, randomBytes };
  const repair = async () => silent;
  const directory = randomBytes(8).toString('hex');
  const accountStore = new PostgresAccountStore(accounts, { ...services, directory, repair, setAside: async () => {} });
  return {
    accountStore,
    async close() {
      await accountStore.close();
      for (const each of connections) await each.close();
      await accounts.lmdb.close();
      rmSync(data, { recursive: true });
    },
  };
}

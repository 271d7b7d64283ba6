import { onTestFinished } from 'vitest';
import { encodeBody } from '../../src/replication/entry.ts';
import { bucketWidth, countsCodec, scanCells } from '../../src/storage/lmdb/blocks.ts';
import { listSeries } from '../../src/storage/lmdb/series.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { TestReplica } from './test-replica.ts';
import { start, TestLog, type TestPacket, TestStream } from './test-streams.ts';

export const minute = 60_000;
export const day = 86_400_000;
const limits = { features: 100, variants: 100, metrics: 100 };

/** Two nodes that ship to one log, and a replica that follows it. */
export function setUp() {
  const log = new TestLog();
  const one = new TestStream('one', log, start, limits);
  const other = new TestStream('other', log, start, limits);
  const node = new TestReplica(temporaryDirectory());
  onTestFinished(() => node.store.lmdb.close());
  return { log, one, other, node };
}

export function packet(more: Partial<TestPacket> = {}): TestPacket {
  const f = { checkout: { on: [1, 0, 0] } };
  return { environment: 1, f, m: {}, ago: 0, person: undefined, sender: 'Firefox', ...more };
}

export function sumChecks({ store }: TestReplica, environment = 1): Record<string, number> {
  store.lmdb.resetReadTxn();
  const sums: Record<string, number> = {};
  const names = new Map([...listSeries(store, environment)].map(({ ordinal, name }) => [ordinal, name.join('/')]));
  const cells = scanCells(store.counts, countsCodec, environment, bucketWidth.minute, 0, 2 ** 32 - 1);
  for (const { ordinal, value } of cells) {
    const name = names.get(ordinal)!;
    sums[name] = (sums[name] ?? 0) + value.checks;
  }
  return sums;
}

export function countRows(
  { store }: TestReplica,
  table: 'messages' | 'messageTimes' | 'cumulative' | 'totals' | 'forgotten' | 'streamSeries',
): number {
  store.lmdb.resetReadTxn();
  return store[table].getKeysCount();
}

export function appendHorizon(
  log: TestLog,
  through: number,
  since: number,
  now = start,
  open = ['one', 'other'],
): void {
  log.append('horizon', encodeBody('horizon', { through, since, now, open, nodes: [] }));
}

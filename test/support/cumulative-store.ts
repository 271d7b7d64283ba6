import { onTestFinished } from 'vitest';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketWidth, countsCodec, measurementCodec, scanCells, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { type CumulativeMessage, opensFeature, rowKind } from '../../src/storage/lmdb/cumulative.ts';
import { ledgerEntries } from '../../src/storage/lmdb/ledger.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { cumulativeMessage } from './cumulative.ts';
import { temporaryDirectory } from './temporary.ts';

export const environment = 3;
export const start = Date.UTC(2026, 0, 31, 12, 0);
const hour = start / 3_600_000;

/** Amounts by `flag/kind` or `flag/variant`, or by name of a value. */
export type Totals = Readonly<Record<string, number>>;

const kinds: Record<string, number> = { yes: rowKind.yes, no: rowKind.no };
const values: Record<string, number> = { sales: rowKind.counter, queue: rowKind.gauge };

/** Returns functions that assign references to names, and encode totals as rows. */
function createRows() {
  const refs = new Map<string, number>();
  const getRef = (name: string) => {
    if (!refs.has(name)) refs.set(name, seriesRef(environment, refs.size));
    return refs.get(name)!;
  };
  return {
    refs,
    flattenTotals(totals: Totals): number[] {
      let before = '';
      return Object.entries(totals).flatMap(([name, amount]) => {
        const [flag = '', kind] = name.split('/');
        if (kind === undefined) return [getRef(name), values[flag]!, amount];
        const opens = flag === before ? 0 : opensFeature;
        before = flag;
        return [getRef(name), (kinds[kind] ?? rowKind.variant) + opens, amount];
      });
    },
  };
}

/** Opens a store. Returns functions that write messages to it and read its content. */
export function openStore() {
  const data = temporaryDirectory();
  let store = openUsageTables(data);
  let { write } = createAggregator(store);
  const { refs, flattenTotals } = createRows();
  onTestFinished(() => store.lmdb.close());
  const findName = (ordinal: number) => [...refs].find(([, ref]) => ref === seriesRef(environment, ordinal))![0];
  const range = [environment, bucketWidth.minute, 0, 2 ** 32 - 1] as const;
  return {
    flattenTotals,
    send(totals: Totals, at: number, more: Partial<CumulativeMessage> = {}) {
      const batch = new Batch();
      const rows = flattenTotals(totals);
      for (const [name, ref] of refs) batch.series.push({ environment, ordinal: ref % 2 ** 20, name: [name, 'on'] });
      batch.addCumulative(cumulativeMessage(at, rows, more));
      write(batch.seal());
    },
    sums() {
      const sums: Record<string, number> = {};
      for (const { ordinal, value } of scanCells(store.counts, countsCodec, ...range))
        sums[findName(ordinal)] = (sums[findName(ordinal)] ?? 0) + value.checks;
      for (const { ordinal, value } of scanCells(store.measurements, measurementCodec, ...range))
        sums[findName(ordinal)] = (sums[findName(ordinal)] ?? 0) + value.sum;
      return sums;
    },
    notes: () =>
      Array.from(ledgerEntries(store, 1, hour, hour + 3), ({ dimensions, count }) => [dimensions.code, count]),
    rows: () => store.cumulative.getKeysCount(),
    async restart() {
      await store.lmdb.close();
      store = openUsageTables(data);
      ({ write } = createAggregator(store));
    },
  };
}

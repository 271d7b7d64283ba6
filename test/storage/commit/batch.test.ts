import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LedgerRow, LedgerTotals } from '../../../src/storage/commit/batch.ts';

const rows: readonly LedgerRow[] = [0, 1, 2].map((hour) => ({ application: 1, hour, subject: '[]' }));

const add = fc.record({ row: fc.constantFrom(...rows), at: fc.nat(1000), detail: fc.option(fc.string()) });
/** A commit of the waiting rows. If the commit fails, its rows are restored after other rows were added. */
const commit = fc.record({ fails: fc.boolean(), between: fc.array(add, { maxLength: 3 }) });

test('every ledger count is written once and with the latest time, even if some commits fail', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(add, commit)), (steps) => {
      const waiting = new LedgerTotals();
      const kept = new LedgerTotals();
      const model = new Map<LedgerRow, { count: number; lastAt: number }>();
      const count = ({ row, at, detail }: { row: LedgerRow; at: number; detail: string | null }) => {
        waiting.add(row, at, detail === null ? null : { detail });
        const { count, lastAt } = model.get(row) ?? { count: 0, lastAt: 0 };
        model.set(row, { count: count + 1, lastAt: Math.max(lastAt, at) });
      };
      for (const step of [...steps, { fails: false, between: [] }]) {
        if ('row' in step) {
          count(step);
          continue;
        }
        const taken = waiting.take();
        step.between.forEach(count);
        (step.fails ? waiting : kept).giveBack(taken);
      }
      kept.giveBack(waiting.take());
      const lines = new Map(kept.lines().map(({ hour, count, lastAt }) => [hour, { count, lastAt }]));
      expect(lines).toEqual(new Map([...model].map(([{ hour }, totals]) => [hour, totals])));
    }),
  );
});

test('a ledger row keeps the example of the last refusal', () => {
  const totals = new LedgerTotals();
  for (const at of [2, 3, 1]) totals.add(rows[0]!, at, { detail: `at ${at}` });
  expect(totals.lines()).toEqual([{ ...rows[0], count: 3, lastAt: 3, example: { detail: 'at 3' } }]);
});

test('the number of waiting ledger rows is limited, and existing rows keep counting', () => {
  const totals = new LedgerTotals(2);
  for (const row of [...rows, ...rows]) totals.add(row, 1);
  expect(totals.lines().map(({ hour, count }) => [hour, count])).toEqual([
    [0, 2],
    [1, 2],
  ]);
});

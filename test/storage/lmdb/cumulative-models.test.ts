import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestBytes } from '../../../src/storage/commit/records.ts';
import { interval } from '../../support/cumulative.ts';
import { openStore, start, type Totals } from '../../support/cumulative-store.ts';

/** A step of a process in one interval. The process counts, sends a message, and possibly misses the response. */
const step = fc.record({
  process: fc.nat(3),
  counted: fc.dictionary(fc.constantFrom('a/yes', 'a/no', 'b/yes'), fc.integer({ min: 1, max: 9 }), { minKeys: 1 }),
  arrives: fc.boolean(),
  isConfirmed: fc.boolean(),
  isDelayed: fc.boolean(),
  restarts: fc.boolean(),
});

/** The unconfirmed bucket of a process. */
interface Open {
  start: number;
  totals: Record<string, number>;
}

function count(open: Open, counted: Totals, expected: Record<string, number>): void {
  for (const [name, more] of Object.entries(counted)) {
    open.totals[name] = (open.totals[name] ?? 0) + more;
    expected[name] = (expected[name] ?? 0) + more;
  }
}

test('each check of a flag counts once, even if requests, responses and servers are lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const store = openStore();
      const open: Open[] = [0, 1, 2, 3].map(() => ({ start: 0, totals: {} }));
      const expected: Record<string, number> = {};
      const delayed: (() => void)[] = [];
      const sender = (process: number, now: number) => {
        const { start: begun, totals } = open[process]!;
        const sent = [{ ...totals }, start + now * interval] as const;
        return () => store.send(...sent, { identity: digestBytes(1, begun, process, 0) });
      };
      for (const [now, { process, counted, arrives, isConfirmed, isDelayed, restarts }] of steps.entries()) {
        count(open[process]!, counted, expected);
        const send = sender(process, now);
        if (isDelayed) delayed.push(send);
        else if (arrives) send();
        if (arrives && isConfirmed && !isDelayed) open[process] = { start: now + 1, totals: {} };
        if (restarts) await store.restart();
      }
      for (const process of open.keys()) sender(process, steps.length)();
      for (const send of delayed) send();
      expect(store.sums()).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test('no check of a flag is lost if several processes have the same identity and start time', () => {
  const checks = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 8 });
  const delay = fc.oneof(fc.nat(1), fc.nat(interval / 2));
  const delays = fc.array(delay, { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(checks, { maxLength: 4 }), delays, (rounds, late) => {
      const store = openStore();
      let sum = 0;
      for (const [round, processes] of rounds.entries()) {
        for (const [process, yes] of processes.entries()) {
          const identity = digestBytes(1, round, 0, 0);
          const stop = start + round * interval + late[process]!;
          store.send({ 'a/yes': yes }, stop, { identity });
          sum += yes;
        }
      }
      expect(store.sums()['a/yes'] ?? 0).toBe(sum);
    }),
    { numRuns: 60 },
  );
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closedLoop, openLoop, type Schedule } from '../../src/bench/load/schedule.ts';

describe('closedLoop', () => {
  it('has a request due at any time until its end', () => {
    const schedule = closedLoop(100, Number.POSITIVE_INFINITY);
    expect([schedule.next(0), schedule.next(0), schedule.next(99), schedule.next(100)]).toEqual([
      0,
      0,
      99,
      undefined,
    ]);
    expect([schedule.over(99), schedule.over(100)]).toEqual([false, true]);
  });

  it('ends after its limit', () => {
    const schedule = closedLoop(100, 2);
    expect([schedule.next(0), schedule.next(1), schedule.next(2)]).toEqual([0, 1, undefined]);
    expect(schedule.over(3)).toBe(true);
  });
});

describe('openLoop', () => {
  it('has requests due at even distances and not before', () => {
    const schedule = openLoop(1_000, 100, 1);
    expect([schedule.next(1_000), schedule.next(1_000), schedule.next(1_015)]).toEqual([
      1_000,
      undefined,
      1_010,
    ]);
  });

  it('keeps the intended times through a stall', () => {
    const schedule = openLoop(0, 100, 0.05);
    const due = Array.from({ length: 6 }, () => schedule.next(5_000));
    expect(due).toEqual([0, 10, 20, 30, 40, undefined]);
    expect(schedule.over(5_000)).toBe(true);
  });
});

describe('the shares of a schedule', () => {
  const parts = fc.record({
    rate: fc.integer({ min: 1, max: 1_000 }),
    seconds: fc.integer({ min: 1, max: 5 }),
    of: fc.integer({ min: 1, max: 9 }),
  });

  it('together have each request of the whole schedule once, at its intended time', () => {
    fc.assert(
      fc.property(parts, ({ rate, seconds, of }) => {
        const due = Array.from({ length: of }, (_, index) =>
          all(openLoop(500, rate, seconds, { index, of }), late),
        );
        const whole = all(openLoop(500, rate, seconds), late);
        expect(due.flat().toSorted((a, b) => a - b)).toEqual(whole);
        expect(whole).toEqual(whole.map((_, request) => 500 + (request * 1000) / rate));
      }),
      { numRuns: 20 },
    );
  });

  it('divide a limit exactly', () => {
    const shares = [0, 1, 2].map((index) => all(closedLoop(100, 7, { index, of: 3 })));
    expect(shares.map(({ length }) => length)).toEqual([3, 2, 2]);
  });
});

const late = 1e6;

/** Every request of a schedule at a time when all are due. */
function all(schedule: Schedule, now = 99): number[] {
  const due: number[] = [];
  for (let next = schedule.next(now); next !== undefined; next = schedule.next(now)) due.push(next);
  return due;
}

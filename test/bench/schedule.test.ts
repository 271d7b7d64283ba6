import { describe, expect, it } from 'vitest';
import { closedLoop, openLoop } from '../../bench/schedule.ts';

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

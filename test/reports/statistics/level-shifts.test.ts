import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeShares, hourOfMove } from '../../../src/reports/activity/split-moves.ts';
import { levelShifts } from '../../../src/reports/statistics/level-shifts.ts';
import { createDraws, type Draws } from './draws.ts';

const days = 60;

interface Traffic {
  readonly draws: Draws;
  /** Expected share of the first variant on a day. */
  readonly share: (day: number) => number;
  readonly checks: number;
  /** Standard deviation of the share between days, in addition to random variation. */
  readonly wobble?: number;
}

/** Draws random shares of two variants. */
function shares({ draws, share, checks, wobble = 0 }: Traffic) {
  const sums = Float64Array.from({ length: days }, (_, day) =>
    Math.round(checks * (day % 7 > 4 ? 0.4 : 1) * (0.9 + 0.2 * draws.uniform())),
  );
  const on = sums.map((sum, day) =>
    draws.binomial(sum, Math.min(1, Math.max(0, share(day) + wobble * draws.normal()))),
  );
  const off = sums.map((sum, day) => sum - on[day]!);
  return { ...computeShares([{ checks: on }, { checks: off }], sums), least: 0.1 };
}

test('levelShifts reports no shift in 3 000 features whose shares only vary by chance', () => {
  const draws = createDraws(7);
  let reported = 0;
  for (let feature = 0; feature < 3000; feature += 1) {
    const mean = 0.02 + 0.96 * draws.uniform();
    const checks = 150 * 10 ** (3 * draws.uniform());
    const wobble = 0.04 * draws.uniform();
    reported += levelShifts(shares({ draws, share: () => mean, checks, wobble })).length;
  }
  // These are 360 000 comparisons at a level of one in a million, so less than one false shift is expected.
  expect(reported).toBeLessThanOrEqual(1);
});

test('levelShifts reports no shift for a share that differs at weekends', () => {
  const draws = createDraws(8);
  const share = (day: number) => (day % 7 > 4 ? 0.75 : 0.5);
  expect(levelShifts(shares({ draws, share, checks: 10_000, wobble: 0.01 }))).toEqual([]);
});

test('levelShifts finds a change of 15 points or more on the day when it happens', () => {
  const planted = fc.record({
    seed: fc.nat(),
    day: fc.integer({ min: 14, max: days - 3 }),
    from: fc.double({ min: 0, max: 1, noNaN: true }),
    to: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(planted, ({ seed, day, from, to }) => {
      fc.pre(Math.abs(to - from) >= 0.15);
      const share = (each: number) => (each < day ? from : to);
      const found = levelShifts(shares({ draws: createDraws(seed), share, checks: 20_000, wobble: 0.005 }));
      expect(found.map((shift) => shift.day)).toEqual([day]);
      expect(found[0]!.from[0]).toBeCloseTo(from, 1);
      expect(found[0]!.to[0]).toBeCloseTo(to, 1);
    }),
    { numRuns: 300 },
  );
});

test('levelShifts assigns a change at noon to its day, and returns the levels before and after it', () => {
  const share = (day: number) => (day < 30 ? 0.1 : day === 30 ? 0.3 : 0.5);
  const [shift, ...more] = levelShifts(shares({ draws: createDraws(3), share, checks: 50_000 }));
  expect(shift!.day).toBe(30);
  expect(shift!.from.map((each) => each.toFixed(1))).toEqual(['0.1', '0.9']);
  expect(shift!.to.map((each) => each.toFixed(1))).toEqual(['0.5', '0.5']);
  expect(more).toEqual([]);
});

test('levelShifts finds the same shifts if later days are added', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 20, max: days }), (seed, known) => {
      const draws = createDraws(seed);
      const steps = [draws.uniform(), draws.uniform(), draws.uniform(), draws.uniform()];
      const all = shares({ draws, share: (day) => steps[Math.floor(day / 16)]!, checks: 5000, wobble: 0.01 });
      const part = (figures: readonly Float64Array[]) => figures.map((each) => each.slice(0, known));
      const found = levelShifts({ ...all, values: part(all.values), noise: part(all.noise) });
      expect(levelShifts(all).slice(0, found.length)).toEqual(found);
    }),
  );
});

test('levelShifts omits a change that lasts only one day', () => {
  const share = (day: number) => (day === 30 ? 0.9 : 0.5);
  expect(levelShifts(shares({ draws: createDraws(4), share, checks: 50_000 }))).toEqual([]);
});

test('levelShifts reports each step of a rollout', () => {
  const share = (day: number) => (day < 20 ? 0.1 : day < 40 ? 0.5 : 1);
  const found = levelShifts(shares({ draws: createDraws(5), share, checks: 20_000 }));
  expect(found.map(({ day }) => day)).toEqual([20, 40]);
});

test('levelShifts does not compare days with few checks', () => {
  const share = (day: number) => (day < 30 ? 0 : 1);
  expect(levelShifts(shares({ draws: createDraws(6), share, checks: 50 }))).toEqual([]);
});

test('hourOfMove finds the hour of a change from the hourly counts of its day', () => {
  const planted = fc.record({
    seed: fc.nat(),
    hour: fc.integer({ min: 0, max: 23 }),
    from: fc.double({ min: 0, max: 0.8, noNaN: true }),
  });
  fc.assert(
    fc.property(planted, ({ seed, hour, from }) => {
      const draws = createDraws(seed);
      const to = from + 0.2;
      const hours = Array.from({ length: 24 }, (_, each) => {
        const sum = 2000 + Math.round(1000 * draws.uniform());
        return { sum, part: draws.binomial(sum, each < hour ? from : to) };
      });
      expect(hourOfMove(hours, from, to)).toBe(hour);
    }),
  );
});

test('hourOfMove returns 0 if there are only daily counts', () => {
  const hours = Array.from({ length: 24 }, (_, hour) => (hour === 0 ? { sum: 1000, part: 300 } : { sum: 0, part: 0 }));
  expect(hourOfMove(hours, 0.2, 0.6)).toBe(0);
});
